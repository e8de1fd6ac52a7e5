import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// The facts that a cache stores with a response, so that a loader can decide later whether it may use the response.
package struct CacheMetadata: Sendable, Hashable, Codable {
    /// A field of the request by which the server selected the response.
    package struct VaryField: Sendable, Hashable, Codable {
        /// In lower case.
        package let name: String
        /// The value in the form in which the loader compares it: a keyed hash where the value may be secret. Nil when
        /// the request had no such field.
        package let value: String?

        package init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    package struct Part: Sendable, Hashable, Codable {
        package let start: Int64
        /// The length of the complete content, in bytes; nil when it is unknown.
        package let total: Int64?

        package init(start: Int64, total: Int64?) {
            self.start = start
            self.total = total
        }
    }

    /// The user whose requests alone may be answered with the response.
    package struct Owner: Sendable, Hashable, Codable {
        /// The keyed hash of the credentials of the response's request (``CacheCredentials``). Nil where the request
        /// had no credentials, or where the response is `public`.
        package var credentials: Data?
        /// The keyed hash of a cookie storage: the one whose cookies were sent, or the one in which the response set
        /// cookies. Nil where there were no cookies.
        package var cookies: Data?

        package init(credentials: Data? = nil, cookies: Data? = nil) {
            self.credentials = credentials
            self.cookies = cookies
        }

        package var isNobody: Bool { credentials == nil && cookies == nil }
    }

    /// Distinguishes the responses under one key.
    package struct Variant: Sendable, Hashable {
        package let varyKey: [VaryField]
        package let owner: Owner
    }

    package var requestTime: Date
    package var responseTime: Date
    /// The request's fields by which the server selected the response.
    package var varyKey: [VaryField]
    package var owner: Owner
    /// The part of the content that is stored; nil for the complete content.
    package var part: Part?
    /// Whether the response was stored without its content, like the response of a followed redirect.
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

/// The credentials of a request, which decide the stored responses that may answer it.
///
/// RFC 9111 §3.5 has rules for caches that several users share. This cache is private, but the sessions that use it may
/// belong to several users. A response to a request with credentials is therefore reused only for requests with the
/// same credentials, unless it is `public`. Credentials for a proxy do not count: the origin server's response does not
/// depend on them.
package struct CacheCredentials: Hashable, Sendable {
    package enum Authorization: Hashable, Sendable {
        case none
        /// The field's value, as the program set it.
        case field(String)
        /// The credential that answers the server's challenges. The field's value differs from request to request.
        case credential(scheme: String, user: String, password: String)

        package static func == (one: Authorization, other: Authorization) -> Bool {
            switch (one, other) {
            case (.none, .none): true
            case (.field(let value), .field(let otherValue)): value.hasSameBytes(as: otherValue)
            case (
                .credential(let scheme, let user, let password),
                .credential(let otherScheme, let otherUser, let otherPassword)
            ):
                scheme == otherScheme && user.hasSameBytes(as: otherUser) && password.hasSameBytes(as: otherPassword)
            case (.none, _), (.field, _), (.credential, _): false
            }
        }
    }

    package var authorization: Authorization
    /// The field's value, as the program set it. Cookies of a storage are not included: ``CacheMetadata/Owner/cookies``
    /// identifies the storage.
    package var cookie: String?
    /// The client's identity on the request's connections: its certificate, or the identity of a scheme that
    /// authenticates connections.
    package var connection: Data?

    package init(authorization: Authorization = .none, cookie: String? = nil, connection: Data? = nil) {
        self.authorization = authorization
        self.cookie = cookie
        self.connection = connection
    }

    package static func == (one: CacheCredentials, other: CacheCredentials) -> Bool {
        one.authorization == other.authorization && one.cookie.hasSameBytes(as: other.cookie)
            && one.connection == other.connection
    }

    package var isEmpty: Bool { authorization == .none && cookie == nil && connection == nil }

    /// A hash of the credentials, which may be stored; nil where there are no credentials, or where OpenSSL fails.
    package func identity(_ hash: KeyedHash) -> Data? { isEmpty ? nil : hash.hash(of: bytes) }

    /// The same for the authorization only.
    package func authorizationIdentity(_ hash: KeyedHash) -> Data? {
        CacheCredentials(authorization: authorization).identity(hash)
    }

    /// The parts, each preceded by its length: different credentials have different bytes.
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
