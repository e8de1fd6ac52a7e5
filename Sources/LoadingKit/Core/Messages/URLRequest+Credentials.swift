import Foundation
import LoadingKitPrimitives

/// The fields that say who asks: they are for one origin, and for no other that it leads to.
extension URLRequest {
    package static let credentialFields = ["Authorization", "Proxy-Authorization", "Cookie", "Cookie2"]

    package static func isCredentialField(_ name: String) -> Bool {
        credentialFields.contains { $0.equalsIgnoringASCIICase(name) }
    }

    /// Whether the request itself says who asks, in its fields or its URL.
    var hasCredentials: Bool {
        !fields.isEmpty && Self.credentialFields.contains { fields.contains(name: $0) } || url?.hasUser == true
    }

    /// Without what an earlier request to another origin was sent with, and this one still carries: most who make a request
    /// of an earlier one change its URL alone. Between requests of other schemes than http and https nothing is removed.
    func withoutCredentials(of earlier: URLRequest) -> URLRequest {
        guard let url, url.hasScheme("http") || url.hasScheme("https"), earlier.url?.isSameOrigin(as: url) != true
        else { return self }
        var request = self
        for name in Self.credentialFields {
            guard let value = value(forHTTPHeaderField: name) else { continue }
            if value == earlier.value(forHTTPHeaderField: name) { request.setValue(nil, forHTTPHeaderField: name) }
        }
        return request
    }
}

extension SessionSettings {
    /// Whether the session has credentials that may go with a request.
    func addsCredentials(to request: URLRequest) -> Bool {
        guard let httpAdditionalHeaders, let url = request.url, url.hasScheme("http") || url.hasScheme("https") else {
            return false
        }
        return httpAdditionalHeaders.contains { URLRequest.isCredentialField($0.0) }
    }
}

extension URL {
    /// Whether there is a user or a password in it. Most have no sign of either.
    fileprivate var hasUser: Bool {
        absoluteString.utf8.contains(UInt8(ascii: "@")) && (user != nil || password != nil)
    }

    fileprivate func isSameOrigin(as other: URL) -> Bool {
        scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
            && (port ?? standardPort) == (other.port ?? standardPort)
    }

    private var standardPort: Int? { hasScheme("http") ? 80 : hasScheme("https") ? 443 : nil }
}
