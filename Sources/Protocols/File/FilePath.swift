import Foundation
import LoadingKitCore

/// The path that a file: URL names on this machine.
struct FilePath {
    let path: String

    init(_ url: URL) throws {
        if let host = url.host(percentEncoded: false), !host.isEmpty, host.lowercased() != "localhost" {
            throw LoadFailure(.badURL, "the file is said to be on another machine, \(host)")
        }
        path = url.path(percentEncoded: false)
        guard !path.isEmpty else { throw LoadFailure(.badURL, "the URL has no path") }
        guard !path.utf8.contains(0) else { throw LoadFailure(.badURL, "the path has a NUL byte in it") }
    }
}
