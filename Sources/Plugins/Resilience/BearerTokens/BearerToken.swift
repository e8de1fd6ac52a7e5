import Foundation

/// A bearer token (RFC 6750).
public struct BearerToken: Sendable, Hashable, CustomStringConvertible {
    /// The value after `Bearer` in the field `Authorization`.
    public let value: String
    /// The time at which the token expires; nil where it is not known.
    public let expiry: Date?

    /// Makes a token.
    public init(_ value: String, expiry: Date? = nil) {
        self.value = value
        self.expiry = expiry
    }

    /// Whether the token has only permitted characters (RFC 6750 §2.1): a token with any other is not sent.
    public var isWellFormed: Bool {
        let body = value.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return !body.isEmpty
            && body.allSatisfy { byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "-._~+/".utf8.contains(byte)
            }
    }

    /// The description without the token's value, which must not be logged.
    public var description: String { "a bearer token" + (expiry.map { " until \($0)" } ?? "") }
}

/// The error when there is no token.
public enum BearerTokenError: LocalizedError, Sendable {
    /// The token source failed.
    case refreshFailed(any Error)
    /// The token source returned a token with characters that are not permitted.
    case malformedToken

    /// The error in plain words.
    public var errorDescription: String? {
        switch self {
        case .refreshFailed(let error): "no bearer token could be obtained: \(error.localizedDescription)"
        case .malformedToken: "the bearer token has characters that are not permitted (RFC 6750 §2.1)"
        }
    }
}
