/// The limits for a peer. Exceeding one is an error. The bodies themselves have no limit.
public struct HTTP1Limits: Sendable, Equatable {
    /// The size of one message's head and trailer section together, in bytes; 256 KiB, as in browsers. A setting above
    /// 2 GiB counts as 2 GiB.
    public var headBytes = 256 * 1024

    /// The number of fields in one message, including its trailers; 1,000. Real messages have far fewer than 100, but
    /// each field costs more memory than its bytes.
    public var fieldCount = 1000

    /// The number of interim (1xx) responses before one final response; 32. A server sends 103 a few times, and 102
    /// every 20 seconds.
    public var interimResponses = 32

    /// The number of sent bytes of the request's body for which the server may send one more interim response; 4,096. A
    /// server that receives a resumable upload reports its progress in such responses (104), about once a second. 0: no
    /// additional ones are allowed.
    public var bytesForInterimResponse = 4096

    /// The size of the first line, in bytes; 64 KiB, eight times the size that RFC 9112 §3 recommends every recipient
    /// to accept.
    public var startLineBytes = 64 * 1024

    /// The size of empty lines before a message, in bytes; 64. RFC 9112 §2.2 requires one line to be accepted, which
    /// old clients sent after a body.
    public var leadingEmptyLineBytes = 64

    /// The size of the extensions of one chunk, in bytes; 16 KiB. Extensions are not in use and are skipped. The limit
    /// only prevents a peer from sending them without end (RFC 9112 §7.1.1).
    public var chunkExtensionBytes = 16 * 1024

    /// The default limits.
    public init() {}
}

/// The part of a message's limits that one of its sections has used.
struct SectionSize: Sendable {
    var bytes = 0
    var fields = 0
}
