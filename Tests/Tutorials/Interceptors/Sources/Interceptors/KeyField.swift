import Foundation
import LoadingKit

/// Sends a key with each request to a host.
public struct KeyField: LoadAdapter {
    private static let name = "X-API-Key"
    private let host: String
    private let key: String

    public init(_ key: String, for host: String) {
        self.host = host.lowercased()
        self.key = key
    }

    public func canIntercept(_ request: URLRequest) -> Bool {
        request.url?.scheme == "https" && request.url?.host?.lowercased() == host
    }

    public func adapt(_ request: URLRequest) -> URLRequest {
        var request = request
        request.setValue(key, forHTTPHeaderField: Self.name)
        return request
    }

    /// A redirect keeps the request's fields, and may lead to another host, which the key is not for.
    public func adapt(redirection: URLRequest, of request: URLRequest) -> URLRequest {
        var redirection = redirection
        redirection.setValue(nil, forHTTPHeaderField: Self.name)
        return redirection
    }
}
