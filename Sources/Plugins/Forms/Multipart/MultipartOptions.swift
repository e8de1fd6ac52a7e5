/// The options for sending a form's body.
public struct MultipartOptions: Sendable {
    /// Whether parts may be of unknown length. The body is then sent in chunks over HTTP/1.1, without `Content-Length`,
    /// which many servers refuse. Default false: a part of unknown length is an error.
    public var allowsUnknownLength = false

    /// The limit in bytes up to which a body without files, streams and sequences is composed in memory: LoadingKit can
    /// always send it again by itself. Default 1 MiB.
    public var inMemoryLimit = 1 << 20

    /// Makes the default options.
    public init() {}
}
