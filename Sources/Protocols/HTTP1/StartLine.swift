/// What a message's first line says, as places in the bytes of its head.
@usableFromInline
struct StartLine: Sendable {
    /// The digit after `HTTP/1.`.
    @usableFromInline var minorVersion: UInt8 = 0
    @usableFromInline var status = 0
    @inlinable var version: HTTPVersion { HTTPVersion(major: 1, minor: minorVersion) }
    /// The reason of a status line.
    @usableFromInline var reason = 0..<0
    /// Whether that is known to be the usual one of the status.
    @usableFromInline var isReasonUsual = false
    var method = 0..<0
    var target = 0..<0
}
