import LoadingKitPrimitives

/// Reads the requests that a client sends on one connection (RFC 9112), with the strictness that a server needs.
///
/// Pass the input as it arrives, in pieces of any size, until ``next(_:_:)`` returns nil. No byte is read twice.
/// Requests that different recipients might interpret differently are refused: `Content-Length` together with
/// `Transfer-Encoding`, a `Transfer-Encoding` that does not end with `chunked` or is used with HTTP/1.0, folded lines,
/// lines of the head or of the trailers that end with a bare LF, space before a colon, no `Host` or several (§2.2,
/// §3.2, §5.1, §5.2, §6.3, §11.2). Empty lines before a request are ignored.
public struct RequestParser: Sendable {
    /// The results of ``next(_:_:)``.
    public enum Event: Sendable, Equatable {
        /// The head of a request, and the framing of its body: never ``BodyFraming/untilClose``.
        case head(RequestHead, BodyFraming)
        /// Bytes of the body: a range of the input.
        case body(Range<Int>)
        /// The trailer fields of a chunked body, if there are any, without fields that concern its framing.
        case trailers(HTTPFields)
        /// The request is complete. The next request follows; after `CONNECT`, or after a request with `Upgrade`, the
        /// server decides whether to continue with this parser.
        case end
    }

    @usableFromInline var reader: MessageReader

    /// Whether the connection can carry another request after the one whose head was last read.
    public private(set) var allowsReuse = true

    /// Makes a parser for one connection.
    public init(limits: HTTP1Limits = HTTP1Limits()) {
        reader = MessageReader(subject: .request, limits: limits)
    }

    /// Reads `input` from `position`, which is advanced behind the bytes read.
    ///
    /// - Returns: The next event; nil if all of the input was read.
    /// - Throws: ``HTTP1Error`` if the bytes are not a request; each further call throws it, too. The server should
    ///   respond with 400 (431 for too large fields, 414 for a too long target, 505 for another version), and close the
    ///   connection.
    @inlinable
    @inline(__always)
    public mutating func next(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Event? {
        // Inlined: a caller's work for a small chunk, or for an end, mostly costs less than a call.
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

    /// Reports that the client has closed its side of the connection.
    ///
    /// - Returns: `.end` if it has not been reported yet; nil between requests.
    /// - Throws: ``HTTP1Error/Kind/closedEarly(_:)`` in the middle of a request.
    public mutating func finish() throws(HTTP1Error) -> Event? {
        try reader.finish() == nil ? nil : .end
    }

    /// The number of body bytes that may now be read from the connection directly into the caller's memory, without
    /// ``next(_:_:)``: the rest of a known length or of the current chunk, otherwise 0.
    public var directBodyBytes: Int { reader.directBodyBytes }

    /// Reports that `count` bytes of the body, at most ``directBodyBytes``, were read directly.
    ///
    /// - Returns: Whether the request is now complete. This replaces `.end`, which ``next(_:_:)`` will not return.
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

    /// The framing of a request's body (RFC 9112 §6.3).
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
