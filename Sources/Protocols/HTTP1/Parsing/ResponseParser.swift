import LoadingKitPrimitives

/// Reads the responses that a server sends on one connection (RFC 9112).
///
/// Give it input as it arrives, in pieces of any size, until ``next(_:_:)`` gives nil; no byte is read twice.
///
/// - A `Transfer-Encoding` beats a `Content-Length`; where its last coding is not `chunked`, the body ends with the
///   connection (§6.3). In both cases ``allowsReuse`` is false.
/// - A field that goes on in the next line is one value, with spaces for the line's end (§5.2).
/// - White space between a field's name and the colon is removed (§5.1).
/// - A response without the space before the reason, or with an empty line before it, is accepted.
public struct ResponseParser: Sendable {
    /// What ``next(_:_:)`` gives.
    public enum Event: Sendable, Equatable {
        /// A 1xx response other than 101; the final one is still to come.
        case interim(ResponseHead)
        /// The head of the final response, and how its body ends. 101 is final: another protocol follows it.
        case head(ResponseHead, BodyFraming)
        /// Bytes of the body: a range of the input.
        case body(Range<Int>)
        /// The trailer fields of a chunked body, if there are any; without those that concern its framing.
        case trailers(HTTPFields)
        /// The response is complete.
        case end
    }

    @usableFromInline var reader: MessageReader
    private let limits: HTTP1Limits
    private var method = MethodKind.other
    private var interimCount = 0
    /// Interim responses that are allowed beyond the limit, for what was sent of the request's body.
    private var earnedInterims = 0

    /// Whether the response whose head was read last lets the connection carry another one: the version and `Connection`
    /// allow it, and its framing leaves no doubt about where it ends.
    public private(set) var allowsReuse = true

    /// Makes a parser for one connection.
    public init(limits: HTTP1Limits = HTTP1Limits()) {
        self.limits = limits
        reader = MessageReader(subject: .response, limits: limits)
    }

    /// Says which method the responses that follow answer, until it is called again: a response to `HEAD` has no body,
    /// and one to `CONNECT` opens a tunnel. `GET` at first.
    public mutating func expect(method: String) {
        expect(MethodKind(method))
    }

    mutating func expect(_ method: MethodKind) { self.method = method }

    /// A part of the request's body was sent.
    mutating func didSendBody(_ count: Int) {
        if limits.bytesForInterimResponse > 0 { earnedInterims += count / limits.bytesForInterimResponse }
    }

    /// Reads on from `position`, which moves behind the bytes read.
    ///
    /// - Returns: The next event; nil when all input is used up. After a 101 or a tunnel's `.end`, always nil, and
    ///   `position` stays: the bytes are not HTTP.
    /// - Throws: ``HTTP1Error`` when the bytes are no response, then and ever after.
    @inlinable
    @inline(__always)
    public mutating func next(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> Event? {
        // What a caller does with small chunks, and with an end, is mostly less than what a call would cost.
        if let range = reader.nextChunkData(input, &position) { return .body(range) }
        if reader.isWaiting, position >= input.count { return nil }
        // A head is made here, where the compiler sees what the caller needs of it.
        if reader.isAtHead, let framing = readPlainHead(input, &position) { return .head(makeHead(), framing) }
        if reader.isEnding {
            reader.end()
            return .end
        }
        return try nextOther(input, &position)
    }

    /// Reads a final response's head that is plain in itself and in what it says of its body, as nearly all are; gives the
    /// body's framing. ``nextOther(_:_:)`` goes on with any other. The event is left to the caller: given back from here, it
    /// would be copied on the way, and freed without the knowledge of what it is.
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

    /// The head just read. Mutating as what only reads is given a copy of the whole reader.
    @inlinable
    @inline(__always)
    mutating func makeHead() -> ResponseHead { ResponseHead(reader.scanner.startLine, reader.scanner.section) }

    /// Whatever else comes, and a head of which more must be looked at.
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

    /// Says that the server has closed the connection.
    ///
    /// - Returns: `.end` where the body ends so; nil between messages.
    /// - Throws: ``HTTP1Error/Kind/closedEarly(_:)`` in the middle of a response.
    public mutating func finish() throws(HTTP1Error) -> Event? {
        if interimCount > 0, reader.isBetweenMessages {
            let error = HTTP1Error(.closedEarly(.beforeFinalResponse))
            reader.fail(error)
            throw error
        }
        return try reader.finish() == nil ? nil : .end
    }

    /// How many bytes of the body may now be read from the connection straight into the caller's memory, without
    /// ``next(_:_:)``: what is left of a known length or of the present chunk, `Int.max` for a body until close, else 0.
    @inlinable
    public var directBodyBytes: Int { reader.directBodyBytes }

    /// Says that `count` bytes of the body, at most ``directBodyBytes``, were read so.
    ///
    /// - Returns: Whether the response is now complete. This stands for `.end`, which ``next(_:_:)`` will not give.
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
        earnedInterims = 0
        allowsReuse = framing.allowsReuse
        reader.beginBody(framing.body, then: framing.sequel)
    }

    private mutating func takeInterim() throws(HTTP1Error) -> Event {
        let head = makeHead()
        interimCount += 1
        guard interimCount - earnedInterims <= limits.interimResponses else { throw fail(.tooManyInterimResponses) }
        reader.beginNextHead()
        return .interim(head)
    }

    /// The head as a whole is at fault: its end is where that was seen.
    private mutating func fail(_ kind: HTTP1Error.Kind) -> HTTP1Error {
        let error = HTTP1Error(kind, offset: reader.consumed)
        reader.fail(error)
        return error
    }
}

extension ResponseParser {
    /// Whether what follows is not HTTP: after the end of a 101, or of a 2xx response to `CONNECT`.
    var isSwitched: Bool { reader.isSwitched }
    var isSwitching: Bool { reader.isSwitching }

    /// Whether no byte of a response, not even of an interim one, has come since the last one ended.
    var isBetweenMessages: Bool { interimCount == 0 && reader.isBetweenMessages }
}
