import LoadingKitPrimitives

/// Reads the requests that a client sends on one connection (RFC 9112), as strictly as a server must.
///
/// Give it input as it arrives, in pieces of any size, until ``next(_:_:)`` gives nil; no byte is read twice. Requests
/// that could mean different things to different recipients are refused: `Content-Length` together with
/// `Transfer-Encoding`, a `Transfer-Encoding` that does not end with `chunked` or comes with HTTP/1.0, continued lines,
/// lines of the head or of the trailers that end with a bare LF, space before a colon, no `Host` or several (§2.2, §3.2, §5.1,
/// §5.2, §6.3, §11.2). Empty lines before a request are ignored.
public struct RequestParser: Sendable {
    /// What ``next(_:_:)`` gives.
    public enum Event: Sendable, Equatable {
        /// The head of a request, and how its body ends: never ``BodyFraming/untilClose``.
        case head(RequestHead, BodyFraming)
        /// Bytes of the body: a range of the input.
        case body(Range<Int>)
        /// The trailer fields of a chunked body, if there are any; without those that concern its framing.
        case trailers(HTTPFields)
        /// The request is complete. What follows is the next one; after `CONNECT`, or a request with `Upgrade`, it is
        /// for the server to decide whether to go on with this parser.
        case end
    }

    @usableFromInline var reader: MessageReader

    /// Whether the request whose head was read last lets the connection carry another one.
    public private(set) var allowsReuse = true

    /// Makes a parser for one connection.
    public init(limits: HTTP1Limits = HTTP1Limits()) {
        reader = MessageReader(subject: .request, limits: limits)
    }

    /// Reads on from `position`, which moves behind the bytes read.
    ///
    /// - Returns: The next event; nil when all input is used up.
    /// - Throws: ``HTTP1Error`` when the bytes are no request, then and ever after. The answer to it is 400 (431 for
    ///   fields that are too large, 414 for a target too long, 505 for another version), and closing the connection.
    @inlinable
    @inline(__always)
    public mutating func next(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Event? {
        // What a caller does with small chunks, and with an end, is mostly less than what a call would cost.
        if let range = reader.nextChunkData(input, &position) { return .body(range) }
        if reader.isWaiting, position >= input.count { return nil }
        if reader.isEnding {
            reader.end()
            return .end
        }
        return try nextOther(input, &position)
    }

    @usableFromInline
    @inline(never)
    mutating func nextOther(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Event? {
        switch try reader.next(input, &position) {
        case nil: return nil
        case .head: return try takeHead()
        case .body(let range): return .body(range)
        case .trailers: return .trailers(reader.takeTrailers())
        case .end: return .end
        }
    }

    /// Says that the client has closed its side of the connection.
    ///
    /// - Returns: `.end` if that was still to be reported; nil between requests.
    /// - Throws: ``HTTP1Error/Kind/closedEarly(_:)`` in the middle of a request.
    public mutating func finish() throws(HTTP1Error) -> Event? {
        try reader.finish() == nil ? nil : .end
    }

    /// How many bytes of the body may now be read from the connection straight into the caller's memory, without
    /// ``next(_:_:)``: what is left of a known length or of the present chunk, else 0.
    public var directBodyBytes: Int { reader.directBodyBytes }

    /// Says that `count` bytes of the body, at most ``directBodyBytes``, were read so.
    ///
    /// - Returns: Whether the request is now complete. This stands for `.end`, which ``next(_:_:)`` will not give.
    @discardableResult
    public mutating func didReadBody(_ count: Int) -> Bool { reader.didReadBody(count) }

    private mutating func takeHead() throws(HTTP1Error) -> Event {
        let line = reader.scanner.startLine
        reader.completeHead()
        let (fields, version) = (reader.scanner.section, line.version)
        do throws(HTTP1Error.Kind) {
            try RequestTarget.check(line, of: fields)
            try HostField.check(fields, version: version)
            let present = reader.scanner.framing()
            let framing = try Self.framing(of: fields, present, version: version)
            allowsReuse = Persistence.isKept(version: version, fields: fields, present.connection)
            reader.beginBody(framing, then: allowsReuse ? .message : .nothing)
            let head = RequestHead(
                version: version, methodText: HeadText(of: fields, line.method),
                targetText: HeadText(of: fields, line.target), fields: fields)
            return .head(head, framing)
        } catch {
            let failure = HTTP1Error(error, offset: reader.consumed)
            reader.fail(failure)
            throw failure
        }
    }

    /// RFC 9112 §6.3, for a server.
    private static func framing(
        of fields: HTTPFields, _ present: HTTPFields.Framing, version: HTTPVersion
    ) throws(HTTP1Error.Kind) -> BodyFraming {
        let hasLength = present.length != .absent
        switch present.hasTransferEncoding ? TransferEncoding(fields) : .absent {
        case .absent: return try ContentLength.parse(fields, present.length).map { .length($0) } ?? .none
        case .chunked where hasLength, .other where hasLength, .invalid where hasLength:
            throw .lengthAndTransferEncoding
        case .chunked where version.minor >= 1: return .chunked
        case .chunked, .other, .invalid: throw .invalidTransferEncoding
        }
    }
}
