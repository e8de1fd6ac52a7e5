import Foundation

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
