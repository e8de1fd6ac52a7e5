import Foundation

/// What a cache keeps beside a response, so that a loader can tell later whether the response may be used.
package struct CacheMetadata: Sendable, Hashable, Codable {
    /// A field of the request that the response was chosen by.
    package struct SelectingField: Sendable, Hashable, Codable {
        /// Lowercase.
        package let name: String
        /// As the loader compares it; nil when the request had no such field.
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

    /// When the request was sent.
    package var requestTime: Date
    /// When the response's head was received.
    package var responseTime: Date
    /// What tells the variants of one URL apart.
    package var selectingFields: [SelectingField]
    /// Which part of the content is kept; nil for all of it.
    package var part: Part?
    /// Whether the content was not waited for: that of a redirect which was followed.
    package var lacksContent: Bool

    package init(
        requestTime: Date, responseTime: Date, selectingFields: [SelectingField] = [], part: Part? = nil,
        lacksContent: Bool = false
    ) {
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.selectingFields = selectingFields
        self.part = part
        self.lacksContent = lacksContent
    }
}
