import Dispatch
import Foundation
import LoadingKit

// Ends while its threads are at work: `ExitProbe WAY MICROSECONDS URL AUTHORITY`. The tests start it again and again.
//
// Several sessions load the URL over https, each time on a new connection, for ever. Some time after the first answer the
// process ends: by a return from the main program, or by `exit` on its thread, on that of a completion handler, or on one
// of the program's own.

private enum Way: String {
    case `return`, exit, handler, thread
}

let arguments = CommandLine.arguments
guard arguments.count == 5, let way = Way(rawValue: arguments[1]), let delay = UInt32(arguments[2]),
    let url = URL(string: arguments[3])
else { exit(2) }
let authority = try String(contentsOfFile: arguments[4], encoding: .utf8)
let hasBegun = DispatchSemaphore(value: 0)

// Those with stores on disk are written to, too.
let sessions = [URLSessionConfiguration.ephemeral, .ephemeral, .default].map { configuration in
    configuration.tlsTrustRoots = .pem(authority)
    configuration.connectionProxyDictionary = [:]
    return URLSession(configuration: configuration)
}

@Sendable func load(with session: URLSession) {
    session.dataTask(with: url) { _, _, error in
        if let error {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            _exit(3)
        }
        load(with: session)
        hasBegun.signal()
        if way == .handler {
            usleep(delay)
            exit(0)
        }
    }.resume()
}

for session in sessions {
    for _ in 0..<3 { load(with: session) }
}
hasBegun.wait()
switch way {
case .return: usleep(delay)
case .exit:
    usleep(delay)
    exit(0)
case .thread:
    Thread.detachNewThread {
        usleep(delay)
        exit(0)
    }
    // A signal with a handler ends a pause.
    while true { sleep(1000) }
case .handler: sleep(1000)
}
