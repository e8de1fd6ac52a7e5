import Foundation
import LoadingKit

/// Sends a key with each request to a host.
public struct KeyField: LoadInterceptor {
    private static let name = "X-API-Key"
    private let host: String
    private let key: String

    public init(_ key: String, for host: String) {
        self.host = host.lowercased()
        self.key = key
    }

    public var runsOnSessionExecutor: Bool { true }

    public func canIntercept(_ request: URLRequest) -> Bool {
        request.url?.scheme == "https" && request.url?.host?.lowercased() == host
    }

    public func load(_ load: LoadContext) async throws {
        var request = load.request
        request.setValue(key, forHTTPHeaderField: Self.name)
        let loaded = try await load.next.load(request, redirects: .returned)
        // A redirect keeps the request's fields, and may lead to another host, which the key is not for.
        if var redirection = loaded.redirection {
            redirection.setValue(nil, forHTTPHeaderField: Self.name)
            try await load.redirect(to: redirection, response: loaded.response)
        }
        try await load.receive(loaded)
    }
}
