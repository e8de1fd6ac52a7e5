/// How a form's body is sent.
public struct MultipartOptions: Sendable {
    /// Whether parts may be of unknown length. The body is then sent in chunks over HTTP/1.1, without `Content-Length`,
    /// which many servers refuse. Default false: a part of unknown length is an error.
    public var allowsUnknownLength = false

    /// A body without files, streams and sequences, of at most so many bytes, is put together in memory: LoadingKit can
    /// send it again by itself, whatever happens. Default 1 MiB.
    public var inMemoryLimit = 1 << 20

    /// The default options.
    public init() {}
}
