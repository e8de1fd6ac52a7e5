import Foundation

/// A bearer token (RFC 6750).
public struct BearerToken: Sendable, Hashable, CustomStringConvertible {
    /// What the field `Authorization` has after `Bearer`.
    public let value: String
    /// When it is no longer good; nil where that is not known.
    public let expiry: Date?

    /// A token.
    public init(_ value: String, expiry: Date? = nil) {
        self.value = value
        self.expiry = expiry
    }

    /// Whether it is of the characters that a token may have (RFC 6750 §2.1): no other goes into a field.
    public var isWellFormed: Bool {
        let body = value.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return !body.isEmpty
            && body.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
    }

    /// Without its value, which belongs in no log.
    public var description: String { "a bearer token" + (expiry.map { " until \($0)" } ?? "") }
}

/// No token could be had.
public enum BearerTokenError: LocalizedError, Sendable {
    /// The token source failed.
    case refreshFailed(any Error)
    /// The token source gave a token with characters that no token may have.
    case malformedToken

    /// What happened, in plain words.
    public var errorDescription: String? {
        switch self {
        case .refreshFailed(let error): "no bearer token could be had: \(error.localizedDescription)"
        case .malformedToken: "the bearer token has characters that no token may have (RFC 6750 §2.1)"
        }
    }
}
