/// A stream's number: 31 bits (RFC 9113 §5.1.1); 0 is the connection itself.
public struct HTTP2StreamID: RawRepresentable, Sendable, Hashable {
    /// The number, at most 2³¹ - 1.
    public let rawValue: UInt32

    /// The stream of a number. The highest bit is reserved, and ignored.
    @inlinable
    public init(rawValue: UInt32) { self.rawValue = rawValue & 0x7fff_ffff }

    /// The connection as a whole.
    public static let connection = Self(rawValue: 0)
    /// The last number that there is.
    public static let last = Self(rawValue: 0x7fff_ffff)

    /// Whether a client opens streams of that number.
    @inlinable
    public var isClientInitiated: Bool { rawValue & 1 == 1 }
}

extension HTTP2StreamID: Comparable {
    /// Whether `a` was opened before `b`, where the same side opened both (RFC 9113 §5.1.1).
    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension HTTP2StreamID: CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// The stream of a number.
    @inlinable
    public init(integerLiteral value: UInt32) { self.init(rawValue: value) }

    /// The number in decimal digits.
    public var description: String { String(rawValue) }
}
