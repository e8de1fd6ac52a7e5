import Foundation
import LoadingKitPrimitives

/// The fields that identify the user. They are for one origin, and are not sent to another origin after a redirect.
extension URLRequest {
    package static let credentialFields = ["Authorization", "Proxy-Authorization", "Cookie", "Cookie2"]

    /// The fields that a request loses at a redirect to another origin.
    @_spi(LoadingKitPlugins)
    public static let fieldsOfOrigin = credentialFields + ["Host"]

    package static func isCredentialField(_ name: String) -> Bool {
        credentialFields.contains { $0.equalsIgnoringASCIICase(name) }
    }

    /// Whether the request itself identifies the user, in its fields or its URL.
    var hasCredentials: Bool {
        !fields.isEmpty && Self.credentialFields.contains { fields.contains(name: $0) } || url?.hasUser == true
    }

    /// The request without the credentials of an earlier request to another origin. A program that derives a request
    /// from an earlier one often changes only its URL, and the new request still has the earlier one's credentials.
    func withoutCredentials(of earlier: URLRequest) -> URLRequest {
        guard let url, earlier.url?.isSameOrigin(as: url) != true else { return self }
        var request = self
        for name in Self.credentialFields {
            guard let value = value(forHTTPHeaderField: name) else { continue }
            if value == earlier.value(forHTTPHeaderField: name) { request.setValue(nil, forHTTPHeaderField: name) }
        }
        return request
    }
}

extension URL {
    /// Whether the URL has a user or a password. Most URLs have no `@`, and need not be parsed.
    fileprivate var hasUser: Bool {
        absoluteString.utf8.contains(UInt8(ascii: "@")) && (user != nil || password != nil)
    }
}
