/// The version in a message's first line (RFC 9112 §2.3).
public struct HTTPVersion: Sendable, Hashable {
    /// The number before the dot.
    public var major: UInt8
    /// The number after the dot.
    public var minor: UInt8

    /// Makes a version from its two numbers.
    @inlinable
    public init(major: UInt8, minor: UInt8) {
        self.major = major
        self.minor = minor
    }

    /// HTTP/1.0.
    public static let http1_0 = HTTPVersion(major: 1, minor: 0)
    /// HTTP/1.1.
    public static let http1_1 = HTTPVersion(major: 1, minor: 1)
    /// HTTP/2, which has no such line.
    public static let http2 = HTTPVersion(major: 2, minor: 0)
}

extension HTTPVersion: CustomStringConvertible {
    /// As in a start line: `HTTP/1.1`.
    public var description: String { "HTTP/\(major).\(minor)" }
}
