import Foundation
import LoadingKitTransport

/// The credentials of a request that decide which stored responses it may have.
///
/// RFC 9111 §3.5 has rules for caches that several users share. This cache is private, but the sessions that use it may
/// belong to several users. So a response that was obtained with credentials is for requests with the same credentials
/// alone, unless it is `public`. Credentials for a proxy do not count: the origin server's response does not depend on
/// them.
package struct CacheCredentials: Hashable, Sendable {
    package enum Authorization: Hashable, Sendable {
        case none
        /// The field's value, as a program has set it.
        case field(String)
        /// The credential that answers the server's challenges. The field's value differs from request to request.
        case credential(scheme: String, user: String, password: String)
    }

    package var authorization: Authorization
    /// The field's value, as a program has set it. Cookies of a storage are not here: ``CacheMetadata/Owner/cookies``
    /// identifies the storage.
    package var cookie: String?
    /// Who the client is on the request's connections: by its certificate, or by a scheme that authenticates
    /// connections.
    package var connection: Data?

    package init(authorization: Authorization = .none, cookie: String? = nil, connection: Data? = nil) {
        self.authorization = authorization
        self.cookie = cookie
        self.connection = connection
    }

    package var isEmpty: Bool { authorization == .none && cookie == nil && connection == nil }

    /// A hash of the credentials, which may be stored; nil where there are none, or where OpenSSL fails.
    package func identity(_ hash: KeyedHash) -> Data? { isEmpty ? nil : hash.hash(of: bytes) }

    /// The same for the authorization alone.
    package func authorizationIdentity(_ hash: KeyedHash) -> Data? {
        CacheCredentials(authorization: authorization).identity(hash)
    }

    /// The parts, each with its length before it: different credentials have different bytes.
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
        case .credential(let scheme, let user, let password): put("login", [scheme, user, password])
        }
        put(cookie == nil ? "" : "cookie", cookie.map { [$0] } ?? [])
        put(connection == nil ? "" : "connection", [])
        put(connection ?? Data())
        return bytes
    }
}
