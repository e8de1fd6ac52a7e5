import Foundation
import LoadingKit

/// Gives responses to URLs that end with `.json` their type, for a server that calls them plain text.
public struct JSONType: LoadInterceptor {
    public init() {}

    public var runsOnSessionExecutor: Bool { true }

    public func canIntercept(_ request: URLRequest) -> Bool { request.url?.pathExtension == "json" }

    public func load(_ load: LoadContext) async throws {
        let loaded = try await load.next.load(load.request, redirects: .returned)
        try await load.receive(loaded, as: Self.corrected(loaded.response))
    }

    /// Nil where there is nothing to change.
    private static func corrected(_ response: URLResponse) -> URLResponse? {
        guard let response = response as? HTTPURLResponse, response.mimeType == "text/plain", let url = response.url,
            var fields = response.allHeaderFields as? [String: String]
        else { return nil }
        fields["Content-Type"] = "application/json"
        return HTTPURLResponse(url: url, statusCode: response.statusCode, httpVersion: nil, headerFields: fields)
    }
}
