import Foundation

/// The path that a `file:` URL names on this machine (RFC 8089).
package struct FilePath {
    package let path: String

    package init(_ url: URL) throws {
        if let host = url.host(percentEncoded: false), !host.isEmpty, host.lowercased() != "localhost" {
            throw LoadFailure(.badURL, "the file is said to be on another machine, \(host)")
        }
        guard let path = url.absoluteURL.path(percentEncoded: true).removingPercentEncoding else {
            throw LoadFailure(.badURL, "the path is not text in UTF-8")
        }
        // What a relative path means would depend on the process's working directory.
        guard path.utf8.first == UInt8(ascii: "/") else { throw LoadFailure(.badURL, "the URL has no absolute path") }
        // The system would take the path to end there.
        guard !path.utf8.contains(0) else { throw LoadFailure(.badURL, "the path has a NUL byte in it") }
        self.path = path
    }
}
