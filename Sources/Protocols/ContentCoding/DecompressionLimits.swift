/// How far a body may expand.
public struct DecompressionLimits: Sendable {
    /// Decoded bytes for each coded one. Deflate itself cannot pass 1032, so by default one coding never meets this;
    /// two codings one upon the other could, and then this stops them.
    public var ratio = 1100

    /// Decoded bytes before the ratio counts.
    public var minimumSize = 1 << 20

    /// The defaults.
    public init() {}
}
