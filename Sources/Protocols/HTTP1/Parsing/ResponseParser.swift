import LoadingKitPrimitives

/// Reads the responses that a server sends on one connection (RFC 9112).
///
/// Pass the input as it arrives, in pieces of any size, until ``next(_:_:)`` returns nil. No byte is read twice.
///
/// - `Transfer-Encoding` overrides `Content-Length`. If its last coding is not `chunked`, the body ends with the
///   connection (§6.3). In both cases ``allowsReuse`` is false.
/// - A field that continues on the next line is one value, with spaces instead of the line's end (§5.2).
/// - White space between a field's name and the colon is removed (§5.1).
/// - A response without the space before the reason, or with an empty line before it, is accepted.
public struct ResponseParser: Sendable {
    /// The results of ``next(_:_:)``.
    public enum Event: Sendable, Equatable {
        /// A 1xx response other than 101. The final response follows.
        case interim(ResponseHead)
        /// The head of the final response, and the framing of its body. 101 is final: another protocol follows it.
        case head(ResponseHead, BodyFraming)
        /// Bytes of the body: a range of the input.
        case body(Range<Int>)
        /// The trailer fields of a chunked body, if there are any, without fields that concern its framing.
        case trailers(HTTPFields)
        /// The response is complete.
        case end
    }

    @usableFromInline var reader: MessageReader
    private let limits: HTTP1Limits
    private var method = MethodKind.other
    private var interimCount = 0
    /// The number of sent bytes of the request's body, for which more interim responses are allowed than the limit.
    private var sentBodyBytes = 0

    /// Whether the connection can carry another response after the one whose head was last read: the version and
    /// `Connection` allow it, and the framing defines the end of the response unambiguously.
    public private(set) var allowsReuse = true

    /// Makes a parser for one connection.
    public init(limits: HTTP1Limits = HTTP1Limits()) {
        self.limits = limits
        reader = MessageReader(subject: .response, limits: limits)
    }

    /// Sets the request method of the following responses, until the next call: a response to `HEAD` has no body, and a
    /// response to `CONNECT` opens a tunnel. The initial method is `GET`.
    public mutating func expect(method: String) {
        expect(MethodKind(method))
    }

    mutating func expect(_ method: MethodKind) { self.method = method }

    /// A part of the request's body was sent.
    mutating func didSendBody(_ count: Int) { sentBodyBytes += min(count, Int.max - sentBodyBytes) }

    /// Reads `input` from `position`, which is advanced behind the bytes read.
    ///
    /// - Returns: The next event; nil if all of the input was read. After the `.end` of a 101 or a tunnel, the result
    ///   is always nil, and `position` does not change: the bytes are not HTTP.
    /// - Throws: ``HTTP1Error`` if the bytes are not a response; each further call throws it, too.
    @inlinable
    @inline(__always)
    public mutating func next(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Event? {
        // Inlined: a caller's work for a small chunk, or for an end, mostly costs less than a call.
        if let range = reader.nextChunkData(input, &position) { return .body(range) }
        if reader.isWaiting, position >= input.count { return nil }
        // The head is made here, where the compiler can see which of its parts the caller uses.
        if reader.isAtHead, let framing = readPlainHead(input, &position) { return .head(makeHead(), framing) }
        if reader.isEnding {
            reader.end()
            return .end
        }
        return try nextOther(input, &position)
    }

    /// Reads a final response's head if its lines and its framing are plain, as in nearly all responses, and returns
    /// the framing of the body. ``nextOther(_:_:)`` continues with any other head. The caller makes the event: an event
    /// returned from here would be copied, and released without static knowledge of its case.
    @usableFromInline
    @inline(never)
    mutating func readPlainHead(_ input: UnsafeRawBufferPointer, _ position: inout Int) -> BodyFraming? {
        guard reader.readPlainHead(input, &position) else { return nil }
        reader.completeHead()
        guard let framing = ResponseFraming(plain: reader.scanner.framing(), reader.scanner.startLine, to: method)
        else {
            return nil
        }
        take(framing)
        return framing.body
    }

    /// The head that was read. The method is mutating because a nonmutating one would get a copy of the whole reader.
    @inlinable
    @inline(__always)
    mutating func makeHead() -> ResponseHead { ResponseHead(reader.scanner.startLine, reader.scanner.section) }

    /// Reads all other events, and heads that need further checks.
    @usableFromInline
    @inline(never)
    mutating func nextOther(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Event? {
        if reader.hasHead { return try takeHead() }
        switch try reader.next(input, &position) {
        case nil: return nil
        case .head:
            reader.completeHead()
            return try takeHead()
        case .body(let range): return .body(range)
        case .trailers: return .trailers(reader.takeTrailers())
        case .end: return .end
        }
    }

    /// Reports that the server has closed the connection.
    ///
    /// - Returns: `.end` if the close ends the body; nil between messages.
    /// - Throws: ``HTTP1Error/Kind/closedEarly(_:)`` in the middle of a response.
    public mutating func finish() throws(HTTP1Error) -> Event? {
        if interimCount > 0, reader.isBetweenMessages {
            let error = HTTP1Error(.closedEarly(.beforeFinalResponse))
            reader.fail(error)
            throw error
        }
        return try reader.finish() == nil ? nil : .end
    }

    /// The number of body bytes that may now be read from the connection directly into the caller's memory, without
    /// ``next(_:_:)``: the rest of a known length or of the current chunk, `Int.max` for a body until close, otherwise
    /// 0.
    @inlinable
    public var directBodyBytes: Int { reader.directBodyBytes }

    /// Reports that `count` bytes of the body, at most ``directBodyBytes``, were read directly.
    ///
    /// - Returns: Whether the response is now complete. This replaces `.end`, which ``next(_:_:)`` will not return.
    @discardableResult
    public mutating func didReadBody(_ count: Int) -> Bool { reader.didReadBody(count) }

    private mutating func takeHead() throws(HTTP1Error) -> Event {
        let line = reader.scanner.startLine
        if line.status < 200, line.status != 101 { return try takeInterim() }
        let framing: ResponseFraming
        do throws(HTTP1Error.Kind) {
            framing = try .read(reader.scanner.section, reader.scanner.framing(), line, to: method)
        } catch {
            throw fail(error)
        }
        take(framing)
        return .head(makeHead(), framing.body)
    }

    @inline(__always)
    private mutating func take(_ framing: ResponseFraming) {
        interimCount = 0
        sentBodyBytes = 0
        allowsReuse = framing.allowsReuse
        reader.beginBody(framing.body, then: framing.sequel)
    }

    private mutating func takeInterim() throws(HTTP1Error) -> Event {
        let head = makeHead()
        interimCount += 1
        let earned = limits.bytesForInterimResponse > 0 ? sentBodyBytes / limits.bytesForInterimResponse : 0
        guard interimCount - earned <= limits.interimResponses else { throw fail(.tooManyInterimResponses) }
        reader.beginNextHead()
        return .interim(head)
    }

    /// The whole head is the reason for the error, which is therefore reported at the head's end.
    private mutating func fail(_ kind: HTTP1Error.Kind) -> HTTP1Error {
        let error = HTTP1Error(kind, offset: reader.consumed)
        reader.fail(error)
        return error
    }
}

extension ResponseParser {
    /// Whether the following bytes are not HTTP: after the end of a 101, or of a 2xx response to `CONNECT`.
    var isSwitched: Bool { reader.isSwitched }
    var isSwitching: Bool { reader.isSwitching }

    /// Whether no byte of a response, including interim ones, has arrived since the last response ended.
    var isBetweenMessages: Bool { interimCount == 0 && reader.isBetweenMessages }
}
