import Foundation
import LoadingKit

/// One load of the demo: its purpose, and its expected result.
struct DemoLoad {
    let name: String
    /// The purpose, on one line.
    let point: String
    /// The user's equivalent: a command, or code.
    let command: String
    let url: URL
    /// URLs to load at the same time, in place of `url`; their concatenated bodies are the expected result.
    var urls: [URL] = []
    var trustsDemoAuthority = true
    let expected: Expectation

    enum Expectation {
        /// A body; the status, where there is one; whether the connection is reused; the number of redirects.
        case body(Data, status: Int? = nil, isReused: Bool? = nil, redirects: Int = 0)
        case failure(ToolStatus)
    }

    var scheme: String { url.scheme ?? "" }

    /// Nil where the result is the expected one.
    func problem(with result: DemoResult) -> String? {
        switch (expected, result.outcome) {
        case (.body(let body, let status, let isReused, let redirects), .success((let data, let response))):
            if data != body { return "\(data.count) bytes came, and not the \(body.count) that were sent" }
            if let status, (response as? HTTPURLResponse)?.statusCode != status { return "the status is not \(status)" }
            if let isReused, result.isReusedConnection != isReused {
                return isReused ? "the connection was not reused" : "the connection is not a new one"
            }
            return result.redirects == redirects ? nil : "\(result.redirects) redirects were followed"
        case (.failure(let status), .failure(let error)):
            let found = ToolFailure(error, hadResponse: false).status
            return found == status ? nil : "it failed with \(found.rawValue), not \(status.rawValue)"
        case (.body, .failure(let error)): return "it failed: \(error.localizedDescription)"
        case (.failure, .success): return "it should have failed"
        }
    }
}

extension DemoLoad {
    /// The same load for one of its URLs.
    func of(_ url: URL) -> DemoLoad {
        DemoLoad(
            name: name, point: point, command: command, url: url, trustsDemoAuthority: trustsDemoAuthority,
            expected: expected)
    }
}

/// The result of a load.
struct DemoResult {
    let outcome: Result<(Data, URLResponse), any Error>
    let timelines: [Timeline]
    let redirects: Int
    let isReusedConnection: Bool
}

extension DemoResult {
    /// The combined result of several loads: their bodies in sequence, or the first error; and the first three
    /// timelines, because the others look alike. The connection counts as reused where all loads but one reused it.
    init(_ results: [DemoResult]) {
        outcome = Result {
            let all = try results.map { try $0.outcome.get() }
            guard let last = all.last else { throw CancellationError() }
            return (Data(all.flatMap(\.0)), last.1)
        }
        timelines = results.prefix(3).flatMap(\.timelines)
        redirects = results.reduce(0) { $0 + $1.redirects }
        isReusedConnection = results.count { !$0.isReusedConnection } == 1
    }
}
