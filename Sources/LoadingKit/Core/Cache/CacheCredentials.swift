import Foundation
import LoadingKitTransport

/// The credentials that a request is sent with, as far as they decide whose answers a cache may give it.
///
/// RFC 9111 §3.5 speaks of caches that several users share. This one is private, but the sessions of a program may be
/// several users' and share it; so what was obtained with credentials is for the same credentials alone, unless it is
/// `public`. Credentials for a proxy are not among them: they say nothing of what the origin server answers.
package struct CacheCredentials: Hashable, Sendable {
    package enum Authorization: Hashable, Sendable {
        case none
        /// The field's value, which a program has set.
        case field(String)
        /// A challenge was answered, or would be: the field's value is another with each request.
        case login(scheme: String, user: String, password: String)
    }

    package var authorization: Authorization
    /// What a program has set. Cookies of a storage are told apart by their storage.
    package var cookie: String?
    /// As whom the connections are authenticated, by a client's certificate or by a scheme that binds to a connection.
    package var connection: Data?

    package init(authorization: Authorization = .none, cookie: String? = nil, connection: Data? = nil) {
        self.authorization = authorization
        self.cookie = cookie
        self.connection = connection
    }

    package var isEmpty: Bool { authorization == .none && cookie == nil && connection == nil }

    /// What may be kept of them; nil where there are none, or where OpenSSL fails.
    package func identity(_ hash: KeyedHash) -> Data? { isEmpty ? nil : hash.hash(of: bytes) }

    /// What may be kept of the authorization alone.
    package func authorizationIdentity(_ hash: KeyedHash) -> Data? {
        CacheCredentials(authorization: authorization).identity(hash)
    }

    /// Each part after its length, so that no two credentials have the same bytes.
    private var bytes: Data {
        var bytes = Data()
        func put(_ part: Data) {
            withUnsafeBytes(of: UInt64(part.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(part)
        }
        func put(_ tag: String, _ parts: [String]) { for part in [tag] + parts { put(Data(part.utf8)) } }
        switch authorization {
        case .none: put("none", [])
        case .field(let value): put("field", [value])
        case .login(let scheme, let user, let password): put("login", [scheme, user, password])
        }
        put(cookie == nil ? "" : "cookie", cookie.map { [$0] } ?? [])
        put(connection == nil ? "" : "connection", [])
        put(connection ?? Data())
        return bytes
    }
}
