import LoadingKitPrimitives

/// A client's side of one connection: the state of the request being sent and of the response being received (RFC 9112
/// §9).
///
/// It performs no I/O: `send…` appends the bytes to write to the connection, and ``next(_:_:)`` reads the bytes
/// received from it. One request is on its way at a time, unless other requests are sent ahead of its response
/// (pipelining, §9.3.2). Their responses follow in order.
///
///                 sendRequest    ┌──┐ sendAhead   response .end, request sent
///        ┌────▶ idle ─────────▶ exchange ──────────────────┬───────────┐
///        │                       │ ▲ │                     │ reusable? │
///        │                       │ └─┼── yes, sent ahead ──┤           │
///        └───────────────────────┼───┴── yes ──────────────┘           │ no
///                                │ 101, or 2xx to CONNECT              ▼
///                                └──────────▶ switched             closing ──▶ closed
///
/// An error leads to `failed` from every state but `switched`.
///
/// The members used for each response are inlinable: an owner that keeps the value in an object would otherwise copy
/// all of it to call a getter.
public struct ClientConnection: Sendable {
    @usableFromInline
    enum State: Sendable {
        /// No request is on its way. One may be sent.
        case idle
        /// A request is being sent or was sent, and its response is not complete.
        case exchange(RequestProgress)
        /// The connection carries another protocol.
        case switched
        /// The last response is complete, and no request may follow.
        case closing
        /// The server has closed the connection.
        case closed
        case failed(HTTP1Error)
    }

    /// The progress of sending a request.
    @usableFromInline
    enum RequestProgress: Sendable {
        /// This number of bytes of the body, at least one, has not been sent.
        case length(UInt64)
        /// The last chunk has not been sent.
        case chunked
        case sent
    }

    @usableFromInline var state = State.idle
    @usableFromInline var parser: ResponseParser
    private let writer = RequestWriter()
    /// Whether the last request has `Connection: close`.
    private var requestEndsConnection = false
    /// The methods of the requests that were sent ahead and whose responses have not begun, in order.
    private var ahead: [MethodKind] = []

    /// An open connection that has carried no request.
    public init(limits: HTTP1Limits = HTTP1Limits()) {
        parser = ResponseParser(limits: limits)
    }

    /// Whether `sendRequest` is allowed: no request is on its way, and the
    /// version, `Connection` and framing of the last messages keep the connection open.
    @inlinable
    public var canCarryAnotherRequest: Bool {
        switch state {
        case .idle: true
        case .exchange, .switched, .closing, .closed, .failed: false
        }
    }

    /// Whether a request may be sent ahead: a response is awaited or in progress, the last request is completely sent,
    /// and neither that request nor the response ends the connection.
    public var canSendAhead: Bool {
        switch state {
        case .exchange(.sent): !requestEndsConnection && parser.allowsReuse
        case .idle, .exchange, .switched, .closing, .closed, .failed: false
        }
    }

    /// Whether a response is awaited or in progress. After a response's `.end` it is the response to a request that was
    /// sent ahead.
    public var awaitsResponse: Bool {
        switch state {
        case .exchange: true
        case .idle, .switched, .closing, .closed, .failed: false
        }
    }

    /// Whether the connection carries another protocol: after the `.end` of a 101 response, or of a 2xx response to
    /// `CONNECT`.
    @inlinable
    public var isSwitched: Bool {
        switch state {
        case .switched: true
        case .idle, .exchange, .closing, .closed, .failed: false
        }
    }

    /// Whether the bytes after the response's head, which was returned, belong to another protocol. Only the response's
    /// `.end` may still follow.
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
    ///   - version: HTTP/1.1. A request of HTTP/1.0 is the connection's last one.
    ///   - framing: How the body is sent, which must follow unless it is empty.
    /// - Throws: ``HTTP1Error``: another request is on its way, the connection carries no more, or a part is not
    ///   allowed. Nothing is appended then, and the connection is as it was.
    public mutating func sendRequest(
        method: String, target: String, version: HTTPVersion = .http1_1, first: HTTPFields = HTTPFields(),
        fields: HTTPFields, framing: RequestBodyFraming, into output: inout [UInt8]
    ) throws(HTTP1Error) {
        switch state {
        case .idle: break
        case .exchange: throw HTTP1Error(.connectionBusy)
        case .switched, .closing, .closed: throw HTTP1Error(.connectionClosed)
        case .failed(let error): throw error
        }
        try writer.writeHead(
            method: method, target: target, version: version, first: first, fields: fields, framing: framing,
            into: &output)
        parser.expect(method: method)
        requestEndsConnection = version == .http1_0 || !Self.keepsConnection(first) || !Self.keepsConnection(fields)
        switch framing {
        case .none, .length(0): state = .exchange(.sent)
        case .length(let count): state = .exchange(.length(count))
        case .chunked: state = .exchange(.chunked)
        }
    }

    /// Sends a request without a body ahead of the responses to earlier requests, if there are any: appends its head.
    ///
    /// The caller must make sure that this does no harm (RFC 9112 §9.3.2): the connection has proven persistent, this
    /// request and those that await their responses are safe, and none of them requests a switch to another protocol.
    /// When the connection ends, the unanswered requests may or may not have been processed.
    ///
    /// - Throws: ``HTTP1Error``: a request is not completely sent, the connection accepts no more requests, or a part
    ///   is not allowed. No bytes are appended then, and the connection is unchanged.
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
        !fields.contains(.connection)
            || Persistence.isKept(version: .http1_1, fields: fields, fields.framing.connection)
    }

    /// Sends `count` bytes of the body. The caller writes them to the connection between the bytes appended to `prefix`
    /// and those appended to `suffix`: a chunk's size and CRLF, or no bytes for a body of known length. Does nothing if
    /// `count` is not positive.
    ///
    /// - Throws: ``HTTP1Error``: there is no body to send, or its remaining length is smaller. No bytes are appended
    ///   then, and the connection is unchanged.
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

    /// Ends the body. A chunked body requires this call, and may have trailer fields. For a body of known length, the
    /// call only checks that all of it was sent, and may be omitted.
    ///
    /// - Throws: ``HTTP1Error``: there is no body to end, bytes are missing, or the trailers are not allowed. No bytes
    ///   are appended then, and the connection is unchanged.
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
    /// Reads `input` from `position`, which is advanced behind the bytes read.
    ///
    /// - Returns: The next event; nil if all of the input was read. After the connection has switched, the result is
    ///   always nil, and `position` does not change.
    /// - Throws: ``HTTP1Error``: the bytes are not a response, or arrived while no request was on its way (a second
    ///   response that belongs to no request). The connection cannot be used any more.
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

    /// Reports that the server has closed the connection.
    ///
    /// - Returns: `.end` if the close ends the response; nil while no request was on its way.
    /// - Throws: ``HTTP1Error/Kind/closedEarly(_:)``; with `.beforeResponse` if no byte of a response has arrived.
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

    /// The number of body bytes that may now be read from the connection directly into the caller's memory, without
    /// ``next(_:_:)``: the rest of a known length or of the current chunk, `Int.max` for a body until close, otherwise
    /// 0.
    @inlinable
    public var directBodyBytes: Int {
        switch state {
        case .exchange: parser.directBodyBytes
        case .idle, .switched, .closing, .closed, .failed: 0
        }
    }

    /// Reports that `count` bytes of the body, at most ``directBodyBytes``, were read directly.
    ///
    /// - Returns: Whether the response is now complete. This replaces `.end`, which ``next(_:_:)`` will not return.
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

    /// The response is complete. RFC 9112 §9.3: if the request is incomplete, the server would read the next bytes as
    /// the rest of the request's body, so no other request may be sent.
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

    /// The next response belongs to the request that was sent ahead, unless the server has announced that no response
    /// follows.
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
