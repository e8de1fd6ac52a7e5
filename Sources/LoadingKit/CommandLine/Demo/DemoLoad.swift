import Foundation
import LoadingKit

/// One load of the demo: what it shows, and what must come of it.
struct DemoLoad {
    let name: String
    /// What it shows, in a line.
    let point: String
    /// What a person would type: at a prompt, or in a program.
    let command: String
    let url: URL
    var trustsDemoAuthority = true
    let expected: Expectation

    enum Expectation {
        /// A body; the status, where there is one; whether the connection had been used before; redirects on the way.
        case body(Data, status: Int? = nil, isReused: Bool? = nil, redirects: Int = 0)
        case failure(ToolStatus)
    }

    var scheme: String { url.scheme ?? "" }

    /// Nil where all went as it should.
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

/// What came of a load.
struct DemoResult {
    let outcome: Result<(Data, URLResponse), any Error>
    let timelines: [Timeline]
    let redirects: Int
    let isReusedConnection: Bool
}
