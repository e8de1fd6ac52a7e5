import Foundation
import LoadingKit
import TestSupport
import Testing

/// Loads through a session, as programs do.
enum Loading {
    static let session = URLSession(configuration: .ephemeral)

    static func load(
        _ url: URL, range: String? = nil, method: String = "GET"
    ) async throws -> (data: Data, response: URLResponse) {
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue(range, forHTTPHeaderField: "Range")
        return try await withTimeout { [request] in try await session.data(for: request) }
    }

    static func text(_ url: URL, range: String? = nil) async throws -> String {
        String(decoding: try await load(url, range: range).data, as: UTF8.self)
    }

    /// The error's code and its words; that there is one, and that it names the URL, is expected.
    static func failure(
        _ url: URL, range: String? = nil, method: String = "GET", sourceLocation: SourceLocation = #_sourceLocation
    ) async -> (code: URLError.Code?, words: String) {
        let error = await #expect(throws: URLError.self, "\(url)", sourceLocation: sourceLocation) {
            try await load(url, range: range, method: method)
        }
        #expect(error?.failingURL == url, sourceLocation: sourceLocation)
        return (error?.code, (error?.userInfo[NSUnderlyingErrorKey] as? any Error)?.localizedDescription ?? "")
    }

    /// Whether this process has the file open.
    static func isOpen(_ file: URL) throws -> Bool {
        let manager = FileManager.default
        return try manager.contentsOfDirectory(atPath: "/proc/self/fd").contains {
            // One may be closed since it was listed.
            (try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(file.path) ?? false
        }
    }

    /// Fails, by its time limit, where a load leaves the file open.
    static func waitUntilClosed(_ file: URL) async throws {
        try await withTimeout("closing the file") { try await waitUntil { try !isOpen(file) } }
    }
}
