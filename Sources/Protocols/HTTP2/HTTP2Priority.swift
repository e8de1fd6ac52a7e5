/// A deprecated priority (RFC 9113 §5.3.2); read, written and otherwise ignored.
public struct HTTP2Priority: Sendable, Hashable {
    /// The stream that this one depends on.
    public var dependency: HTTP2StreamID
    /// Whether it becomes the only one that does.
    public var isExclusive: Bool
    /// The weight, 1 to 256.
    public var weight: Int

    /// A priority. A weight beyond 1 to 256 is brought into that range.
    public init(dependency: HTTP2StreamID, isExclusive: Bool = false, weight: Int = 16) {
        self.dependency = dependency
        self.isExclusive = isExclusive
        self.weight = min(max(weight, 1), 256)
    }
}
