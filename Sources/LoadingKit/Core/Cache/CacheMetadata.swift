import Foundation

/// What a cache keeps beside a response, so that a loader can tell later whether the response may be used.
package struct CacheMetadata: Sendable, Hashable, Codable {
    /// A field of the request that the response was chosen by.
    package struct SelectingField: Sendable, Hashable, Codable {
        /// Lowercase.
        package let name: String
        /// As the loader compares it; of one that may be secret a keyed hash. Nil when the request had no such field.
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

    /// Who alone may have the response.
    package struct Owner: Sendable, Hashable, Codable {
        /// The keyed hash of the credentials that it was obtained with (``CacheCredentials``); nil where there were none, or
        /// where it is for everybody.
        package var credentials: Data?
        /// The keyed hash of the cookie storage whose cookies it was obtained with, or was to set; nil where there were none.
        package var cookies: Data?

        package init(credentials: Data? = nil, cookies: Data? = nil) {
            self.credentials = credentials
            self.cookies = cookies
        }

        /// Whether it is for everybody.
        package var isNobody: Bool { credentials == nil && cookies == nil }
    }

    /// What tells the responses under one key apart.
    package struct Variant: Sendable, Hashable {
        package let selectingFields: [SelectingField]
        package let owner: Owner
    }

    /// When the request was sent.
    package var requestTime: Date
    /// When the response's head was received.
    package var responseTime: Date
    /// What the server chose the response by.
    package var selectingFields: [SelectingField]
    package var owner: Owner
    /// Which part of the content is kept; nil for all of it.
    package var part: Part?
    /// Whether the content was not waited for: that of a redirect which was followed.
    package var lacksContent: Bool

    package init(
        requestTime: Date, responseTime: Date, selectingFields: [SelectingField] = [], owner: Owner = Owner(),
        part: Part? = nil, lacksContent: Bool = false
    ) {
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.selectingFields = selectingFields
        self.owner = owner
        self.part = part
        self.lacksContent = lacksContent
    }

    package var variant: Variant { Variant(selectingFields: selectingFields, owner: owner) }
}
