import Foundation
import LoadingKit

/// The demo's loads, in the order in which they are performed.
struct DemoScript: Decodable {
    let loads: [DemoLoad]
    let background: DemoStep

    /// - Parameter places: the URLs of the demo's servers and file, by their names in the text.
    init(_ places: [String: String]) throws {
        let text = Resource(PackageResources.demo_json, places).text
        self = try JSONDecoder().decode(DemoScript.self, from: Data(text.utf8))
    }

    /// Nil where the load's result is the expected one.
    func problem(of load: DemoLoad, with result: DemoResult, expecting body: Data) -> String? {
        switch (load.failure, result.outcome) {
        case (let status?, .failure(let error)):
            let found = ToolFailure(error, hadResponse: false).status.rawValue
            return found == status ? nil : "it failed with \(found), not \(status)"
        case (nil, .failure(let error)): return "it failed: \(error.localizedDescription)"
        case (.some, .success): return "it should have failed"
        case (nil, .success((let data, let response))):
            if data != body { return "\(data.count) bytes came, and not the \(body.count) that were sent" }
            if let status = load.status, (response as? HTTPURLResponse)?.statusCode != status {
                return "the status is not \(status)"
            }
            if let isReused = load.isReused, result.isReusedConnection != isReused {
                return isReused ? "the connection was not reused" : "the connection is not a new one"
            }
            return result.redirects == load.redirects ?? 0 ? nil : "\(result.redirects) redirects were followed"
        }
    }
}

/// A step of the demo as it is presented.
struct DemoStep: Decodable {
    let name: String
    /// The purpose, on one line.
    let point: String
    /// The user's equivalent: a command, or code.
    let command: String
}

/// One load of the demo, and its expected result.
struct DemoLoad: Decodable {
    let name: String
    let point: String
    let command: String
    let url: URL
    /// The number of URLs, which end with 1, 2, …, to load at the same time in place of `url`. Their concatenated
    /// bodies are the expected result.
    let tiles: Int?
    /// Whether the session does not trust the demo's authority.
    let isStranger: Bool?
    /// The page of the demo's servers, or else the text, that is the expected body.
    let page: String?
    let body: String?
    /// The other properties of the expected result; nil where any value is accepted.
    let status: Int?
    let isReused: Bool?
    let redirects: Int?
    /// The exit status of an expected failure.
    let failure: Int32?

    var step: DemoStep { DemoStep(name: name, point: point, command: command) }

    var urls: [URL] {
        guard let tiles else { return [url] }
        return (1...max(tiles, 1)).map { url.appendingPathComponent("\($0)") }
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
