import Foundation

/// What the program is told to do: `URL METHOD COUNT AT-A-TIME PAUSE-SECONDS SECONDS CERTIFICATE|-`. Scripts/races.py
/// gives the same to RacingCurl.
struct Course: Sendable {
    let url: URL
    let method: String
    /// How many requests are made at most.
    let count: Int
    let atATime: Int
    /// Between a response and the next request.
    let pause: Duration
    /// After which no request is begun.
    let time: Duration
    /// The certificate to trust, in PEM.
    let certificate: String?

    /// The process's arguments. Others than the program understands end it.
    static var process: Course {
        guard let course = Course(Array(CommandLine.arguments.dropFirst())) else {
            print("arguments: URL METHOD COUNT AT-A-TIME PAUSE-SECONDS SECONDS CERTIFICATE|-")
            exit(2)
        }
        return course
    }

    private init?(_ arguments: [String]) {
        guard arguments.count == 7, let url = URL(string: arguments[0]), let count = Int(arguments[2]),
            let atATime = Int(arguments[3]), let pause = Double(arguments[4]), let time = Double(arguments[5])
        else { return nil }
        self.url = url
        method = arguments[1]
        self.count = count
        self.atATime = atATime
        self.pause = .seconds(pause)
        self.time = .seconds(time)
        certificate = arguments[6] == "-" ? nil : arguments[6]
    }
}
