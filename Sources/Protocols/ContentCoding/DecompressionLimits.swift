/// How far a body may expand.
package struct DecompressionLimits: Sendable {
    /// Decoded bytes for each coded one. Deflate itself cannot pass 1032, so by default one coding never meets this;
    /// two codings one upon the other could, and then this stops them.
    package var ratio = 1100

    /// Decoded bytes before the ratio counts.
    package var minimumSize = 1 << 20

    package init() {}
}
