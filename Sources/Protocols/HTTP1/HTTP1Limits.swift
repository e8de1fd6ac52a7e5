/// What a peer may send before it is an error. The bodies themselves have no limit.
public struct HTTP1Limits: Sendable, Equatable {
    /// Bytes of one message's head and trailer section together; 256 KiB, which is what browsers allow. At most 2 GiB
    /// counts, whatever is set.
    public var headBytes = 256 * 1024

    /// Fields of one message, its trailers among them; 1,000. Real messages stay far below 100, but each field costs
    /// more memory than its bytes.
    public var fieldCount = 1000

    /// Interim (1xx) responses before one final response; 32. A server sends 103 a few times and 102 every 20 seconds.
    public var interimResponses = 32

    /// Bytes of the request's body for which the server may send one interim response more, once they are sent; 4,096. A
    /// server that takes a resumable upload tells of its progress in them (104), each second or so. 0: no more of them.
    public var bytesForInterimResponse = 4096

    /// Bytes of the first line; 64 KiB, eight times what RFC 9112 §3 wants every recipient to accept.
    public var startLineBytes = 64 * 1024

    /// Bytes of empty lines before a message; 64. RFC 9112 §2.2 wants one line to be accepted, which old clients sent after
    /// a body.
    public var leadingEmptyLineBytes = 64

    /// Bytes of the extensions of one chunk; 16 KiB. They are not in use, and are skipped, so that the limit only keeps a
    /// peer from sending them for ever (RFC 9112 §7.1.1).
    public var chunkExtensionBytes = 16 * 1024

    /// The limits that this page gives.
    public init() {}
}

/// How much of a message's limits one of its sections has used.
struct SectionSize: Sendable {
    var bytes = 0
    var fields = 0
}
