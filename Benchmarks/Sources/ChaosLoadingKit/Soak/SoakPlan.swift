import Foundation

/// The plan of a soak, which Scripts/chaos.py writes: its length, and the servers.
struct SoakPlan: Decodable, Sendable {
    let minutes: Double
    let seed: UInt64
    let sessionCount: Int
    /// The number of loads at a time.
    let workerCount: Int
    /// The longest pause between two loads of a worker, in milliseconds.
    let pause: Int
    /// nginx by version: `http`, `https` and `h2`.
    let nginx: [String: URL]
    /// Apache by version: `http` and `h2`.
    let apache: [String: URL]
    /// nginx behind a relay that cuts connections, by version.
    let cut: [String: URL]
    let ftp: URL
    let squidPort: Int
    /// The file of the authorities to trust.
    let certificate: String
    /// A folder for files that are uploaded.
    let folder: String

    init(file: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        self = try JSONDecoder().decode(SoakPlan.self, from: data)
    }
}

/// The content of all files and bodies: the first bytes of one sequence. Scripts/soak/content.py makes the same.
enum SoakContent {
    static let sizes = [100, 1024, 20_000, 65_536, 300_000, 1 << 20]
    private static let bytes = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ ($0 >> 8) &* 13) })

    static func prefix(_ size: Int) -> Data { bytes.prefix(size) }

    static func check(_ data: Data, _ size: Int) throws {
        guard data == bytes.prefix(size) else { throw SoakFault("\(data.count) bytes are not the \(size) of the file") }
    }

    static func check(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw SoakFault(text()) }
    }
}

/// A result that is not the expected one.
struct SoakFault: Error, CustomStringConvertible {
    let description: String
    /// The response's status, if it is the fault.
    let status: Int?

    init(_ description: String, status: Int? = nil) { (self.description, self.status) = (description, status) }
}
