/// How far a body may expand.
public struct DecompressionLimits: Sendable {
    /// Decoded bytes for each coded one of the body: what each coding gives, where there are several. Default 200, which a
    /// body of text or JSON does not come near; deflate itself reaches 1,032 on bytes that are all the same, br and zstd many thousands.
    public var ratio = 200

    /// Decoded bytes before the ratio counts. Default 32 MiB, so that what is small may expand as it likes.
    public var minimumSize = 32 << 20

    /// The defaults.
    public init() {}
}
