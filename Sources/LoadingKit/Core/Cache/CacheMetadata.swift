import Foundation
import LoadingKitTransport

/// What a cache keeps beside a response, so that a loader can decide later whether the response may be used.
package struct CacheMetadata: Sendable, Hashable, Codable {
    /// A field of the request that the response was chosen by.
    package struct VaryField: Sendable, Hashable, Codable {
        /// Lowercase.
        package let name: String
        /// The value in the form in which the loader compares it: a keyed hash where it may be secret. Nil when the
        /// request had no such field.
        package let value: String?

        package init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// A part of a content.
    package struct Part: Sendable, Hashable, Codable {
        /// Where the part begins, in bytes.
        package let start: Int64
        /// How long the whole is, in bytes; nil when that is not known.
        package let total: Int64?

        package init(start: Int64, total: Int64?) {
            self.start = start
            self.total = total
        }
    }

    /// Whose requests alone may have the response.
    package struct Owner: Sendable, Hashable, Codable {
        /// The keyed hash of the credentials that the response was obtained with (``CacheCredentials``). Nil where
        /// there were none, or where the response is `public`.
        package var credentials: Data?
        /// The keyed hash of a cookie storage: the one whose cookies were sent, or the one in which the response set
        /// cookies. Nil where there were no cookies.
        package var cookies: Data?

        package init(credentials: Data? = nil, cookies: Data? = nil) {
            self.credentials = credentials
            self.cookies = cookies
        }

        /// Whether the response has no owner, and may be given to any user's requests.
        package var isNobody: Bool { credentials == nil && cookies == nil }
    }

    /// What tells the responses under one key apart.
    package struct Variant: Sendable, Hashable {
        package let varyKey: [VaryField]
        package let owner: Owner
    }

    /// When the request was sent.
    package var requestTime: Date
    /// When the response's head was received.
    package var responseTime: Date
    /// The request's fields by which the server chose the response.
    package var varyKey: [VaryField]
    package var owner: Owner
    /// Which part of the content is kept; nil for all of it.
    package var part: Part?
    /// Whether the response was stored without its content, as that of a redirect that was followed.
    package var lacksContent: Bool

    package init(
        requestTime: Date, responseTime: Date, varyKey: [VaryField] = [], owner: Owner = Owner(),
        part: Part? = nil, lacksContent: Bool = false
    ) {
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.varyKey = varyKey
        self.owner = owner
        self.part = part
        self.lacksContent = lacksContent
    }

    package var variant: Variant { Variant(varyKey: varyKey, owner: owner) }
}

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
