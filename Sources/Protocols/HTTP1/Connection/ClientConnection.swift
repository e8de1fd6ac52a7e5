import LoadingKitPrimitives

/// A client's side of one connection: the request being sent and the response being received, together (RFC 9112 §9).
///
/// It moves no bytes itself: `send…` appends what is to be written to the connection, ``next(_:_:)`` reads what came
/// from it. One request is on its way at a time, unless others are sent ahead of its answer (pipelining, §9.3.2): their
/// responses follow, in order.
///
///                 sendRequest    ┌──┐ sendAhead   response .end, request sent
///        ┌────▶ idle ─────────▶ exchange ──────────────────┬───────────┐
///        │                       │ ▲ │                     │ reusable? │
///        │                       │ └─┼── yes, sent ahead ──┤           │
///        └───────────────────────┼───┴── yes ──────────────┘           │ no
///                                │ 101, or 2xx to CONNECT              ▼
///                                └──────────▶ switched             closing ──▶ closed
///
/// An error leads to `failed` from everywhere but `switched`.
///
/// What is used for each response is inlinable: an owner that keeps it in an object would copy all of it to call a getter.
public struct ClientConnection: Sendable {
    @usableFromInline
    enum State: Sendable {
        /// No request is on its way, and one may be sent.
        case idle
        /// A request is being sent or was, and its response is not complete.
        case exchange(RequestProgress)
        /// The connection carries another protocol.
        case switched
        /// The last response is complete, and no request may follow.
        case closing
        /// The server has closed the connection.
        case closed
        case failed(HTTP1Error)
    }

    /// How far the request of an exchange is.
    @usableFromInline
    enum RequestProgress: Sendable {
        /// This many bytes of the body are still to be sent, at least one.
        case length(UInt64)
        /// The last chunk is still to be sent.
        case chunked
        case sent
    }

    @usableFromInline var state = State.idle
    @usableFromInline var parser: ResponseParser
    private let writer = RequestWriter()
    /// The request that was sent last has `Connection: close`.
    private var requestEndsConnection = false
    /// The methods of the requests that were sent ahead and whose responses have not begun, in order.
    private var ahead: [MethodKind] = []

    /// A connection that is open and has carried nothing.
    public init(limits: HTTP1Limits = HTTP1Limits()) {
        parser = ResponseParser(limits: limits)
    }

    /// Whether ``sendRequest(method:target:fields:framing:into:)`` is allowed: no request is on its way, and after the
    /// last one version, `Connection` and framing let the connection live.
    @inlinable
    public var canCarryAnotherRequest: Bool {
        switch state {
        case .idle: true
        case .exchange, .switched, .closing, .closed, .failed: false
        }
    }

    /// Whether a request may be sent ahead: a response is awaited, or in progress, the request that was sent last is
    /// sent whole, and neither that nor the response lets the connection end.
    public var canSendAhead: Bool {
        switch state {
        case .exchange(.sent): !requestEndsConnection && parser.allowsReuse
        case .idle, .exchange, .switched, .closing, .closed, .failed: false
        }
    }

    /// Whether a response is awaited or in progress. After a response's `.end` it is that of a request sent ahead.
    public var awaitsResponse: Bool {
        switch state {
        case .exchange: true
        case .idle, .switched, .closing, .closed, .failed: false
        }
    }

    /// Whether the connection carries another protocol: after 101, or a 2xx response to `CONNECT`, and its `.end`.
    @inlinable
    public var isSwitched: Bool {
        switch state {
        case .switched: true
        case .idle, .exchange, .closing, .closed, .failed: false
        }
    }

    /// Whether what follows the response's head, which has been given, is another protocol's: the response has no more of
    /// its own than its `.end`, which may still be to come.
    public var isSwitching: Bool {
        switch state {
        case .exchange, .switched: parser.isSwitching
        case .idle, .closing, .closed, .failed: false
        }
    }
}

// MARK: - The request

extension ClientConnection {
    /// Begins a request: appends its head.
    ///
    /// - Parameters:
    ///   - method: A token, for example `GET`.
    ///   - target: As it goes into the request line, in visible ASCII.
    ///   - first: Fields that go before the others, as `Host` should (RFC 9112 §3.2).
    ///   - fields: All others but `Content-Length` and `Transfer-Encoding`, which `framing` makes; given, they are left
    ///     out. `Connection: close` among either keeps the connection from being reused.
    ///   - framing: How the body is sent, which must follow unless it is empty.
    /// - Throws: ``HTTP1Error``: another request is on its way, the connection carries no more, or a part is not
    ///   allowed. Nothing is appended then, and the connection is as it was.
    public mutating func sendRequest(
        method: String, target: String, first: HTTPFields = HTTPFields(), fields: HTTPFields,
        framing: RequestBodyFraming, into output: inout [UInt8]
    ) throws(HTTP1Error) {
        switch state {
        case .idle: break
        case .exchange: throw HTTP1Error(.connectionBusy)
        case .switched, .closing, .closed: throw HTTP1Error(.connectionClosed)
        case .failed(let error): throw error
        }
        try writer.writeHead(
            method: method, target: target, first: first, fields: fields, framing: framing, into: &output)
        parser.expect(method: method)
        requestEndsConnection = !Self.keepsConnection(first) || !Self.keepsConnection(fields)
        switch framing {
        case .none, .length(0): state = .exchange(.sent)
        case .length(let count): state = .exchange(.length(count))
        case .chunked: state = .exchange(.chunked)
        }
    }

    /// Sends a request without a body ahead of the answers to those before it, if there are any: appends its head.
    ///
    /// Whether that does no harm is for the caller to know (RFC 9112 §9.3.2): the connection has proven persistent, and
    /// this request and those that await their answers are safe, and none of them requests a switch to another protocol.
    /// When the connection ends, the requests that were not answered may or may not have been processed.
    ///
    /// - Throws: ``HTTP1Error``: a request is not sent whole, the connection carries no more, or a part is not allowed.
    ///   Nothing is appended then, and the connection is as it was.
    public mutating func sendAhead(
        method: String, target: String, first: HTTPFields = HTTPFields(), fields: HTTPFields,
        into output: inout [UInt8]
    ) throws(HTTP1Error) {
        switch state {
        case .exchange(.sent) where canSendAhead: break
        case .idle:
            return try sendRequest(
                method: method, target: target, first: first, fields: fields, framing: .none, into: &output)
        case .exchange(.length), .exchange(.chunked): throw HTTP1Error(.connectionBusy)
        case .exchange(.sent), .switched, .closing, .closed: throw HTTP1Error(.connectionClosed)
        case .failed(let error): throw error
        }
        try writer.writeHead(
            method: method, target: target, first: first, fields: fields, framing: .none, into: &output)
        ahead.append(MethodKind(method))
        requestEndsConnection = !Self.keepsConnection(first) || !Self.keepsConnection(fields)
    }

    private static func keepsConnection(_ fields: HTTPFields) -> Bool {
        Persistence.isKept(version: .http1_1, fields: fields, fields.framing.connection)
    }

    /// Sends `count` bytes of the body, which the caller writes to the connection between what is appended to `prefix`
    /// and what is appended to `suffix`: a chunk's size before and its CRLF after, or nothing for a body of known
    /// length. Nothing happens if `count` is not positive.
    ///
    /// - Throws: ``HTTP1Error``: there is no body to send, or less is left of its length. Nothing is appended then, and
    ///   the connection is as it was.
    public mutating func sendBody(
        _ count: Int, before prefix: inout [UInt8], after suffix: inout [UInt8]
    ) throws(HTTP1Error) {
        switch try requestInProgress() {
        case .length(let remaining):
            guard count > 0 else { return }
            guard UInt64(count) <= remaining else { throw HTTP1Error(.bodyTooLong) }
            let rest = remaining - UInt64(count)
            state = .exchange(rest > 0 ? .length(rest) : .sent)
            parser.didSendBody(count)
        case .chunked:
            guard count > 0 else { return }
            ChunkWriter.writeHeader(count: count, into: &prefix)
            ChunkWriter.writeEnd(into: &suffix)
            parser.didSendBody(count)
        case .sent:
            throw HTTP1Error(count > 0 ? .bodyTooLong : .noBodyExpected)
        }
    }

    /// Ends the body. A chunked one needs it, and may have trailer fields; for one of known length it only checks that
    /// all has been sent, and may be left out.
    ///
    /// - Throws: ``HTTP1Error``: there is no body to end, bytes are missing, or the trailers are not allowed. Nothing is
    ///   appended then, and the connection is as it was.
    public mutating func finishBody(
        trailers: HTTPFields = HTTPFields(), into output: inout [UInt8]
    ) throws(HTTP1Error) {
        switch try requestInProgress() {
        case .length(let remaining):
            throw HTTP1Error(.bodyTooShort(missing: remaining))
        case .chunked:
            try ChunkWriter.writeLast(trailers: trailers, into: &output)
            state = .exchange(.sent)
        case .sent:
            guard trailers.isEmpty else { throw HTTP1Error(.trailersNeedChunked) }
        }
    }

    private func requestInProgress() throws(HTTP1Error) -> RequestProgress {
        switch state {
        case .exchange(let progress): return progress
        case .idle: throw HTTP1Error(.noBodyExpected)
        case .switched, .closing, .closed: throw HTTP1Error(.connectionClosed)
        case .failed(let error): throw error
        }
    }
}

// MARK: - The response

extension ClientConnection {
    /// Reads on from `position`, which moves behind the bytes read.
    ///
    /// - Returns: The next event; nil when all input is used up. Once the connection is switched, always nil, and
    ///   `position` stays.
    /// - Throws: ``HTTP1Error``: the bytes are no response, or came while no request was on its way (a second response that
    ///   belongs to no request). The connection is of no use then.
    public mutating func next(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> ResponseParser.Event? {
        switch state {
        case .exchange(let progress):
            return try receive(progress) { (parser) throws(HTTP1Error) in try parser.next(input, &position) }
        case .idle, .closing, .closed:
            guard position < input.count else { return nil }
            throw fail(HTTP1Error(.unexpectedBytes))
        case .switched:
            return nil
        case .failed(let error):
            throw error
        }
    }

    /// Says that the server has closed the connection.
    ///
    /// - Returns: `.end` where the response ends so; nil while no request was on its way.
    /// - Throws: ``HTTP1Error/Kind/closedEarly(_:)``; with `.beforeResponse`, no byte of a response has come.
    public mutating func finish() throws(HTTP1Error) -> ResponseParser.Event? {
        switch state {
        case .exchange(let progress):
            if parser.isBetweenMessages { throw fail(HTTP1Error(.closedEarly(.beforeResponse))) }
            let event = try receive(progress) { (parser) throws(HTTP1Error) in try parser.finish() }
            state = .closed
            return event
        case .idle, .closing, .closed, .switched:
            state = .closed
            return nil
        case .failed(let error):
            throw error
        }
    }

    /// How many bytes of the body may now be read from the connection straight into the caller's memory, without
    /// ``next(_:_:)``: what is left of a known length or of the present chunk, `Int.max` for a body until close, else 0.
    @inlinable
    public var directBodyBytes: Int {
        switch state {
        case .exchange: parser.directBodyBytes
        case .idle, .switched, .closing, .closed, .failed: 0
        }
    }

    /// Says that `count` bytes of the body, at most ``directBodyBytes``, were read so.
    ///
    /// - Returns: Whether the response is now complete. This stands for `.end`, which ``next(_:_:)`` will not give.
    @discardableResult
    public mutating func didReadBody(_ count: Int) -> Bool {
        switch state {
        case .exchange(let progress):
            guard parser.didReadBody(count) else { return false }
            endResponse(progress)
            return true
        case .idle, .switched, .closing, .closed, .failed:
            return false
        }
    }

    private mutating func receive(
        _ progress: RequestProgress,
        _ read: (inout ResponseParser) throws(HTTP1Error) -> ResponseParser.Event?
    ) throws(HTTP1Error) -> ResponseParser.Event? {
        do throws(HTTP1Error) {
            let event = try read(&parser)
            if case .end? = event { endResponse(progress) }
            return event
        } catch {
            throw fail(error)
        }
    }

    /// The response is complete. RFC 9112 §9.3: where the request is not, what the server would read next is the rest
    /// of that body, so that nothing else may be sent.
    private mutating func endResponse(_ progress: RequestProgress) {
        if parser.isSwitched {
            state = .switched
            return
        }
        switch progress {
        case .sent where !ahead.isEmpty: awaitNext()
        case .sent: state = parser.allowsReuse && !requestEndsConnection ? .idle : .closing
        case .length, .chunked: state = .closing
        }
    }

    /// The next response answers what was sent ahead, unless the server has announced that there will be none.
    private mutating func awaitNext() {
        guard parser.allowsReuse else {
            state = .closing
            return
        }
        parser.expect(ahead.removeFirst())
        state = .exchange(.sent)
    }

    private mutating func fail(_ error: HTTP1Error) -> HTTP1Error {
        state = .failed(error)
        return error
    }
}
