extension HTTP2ConnectionStateMachine {
    /// Receives a header block on a stream in any state. The block is always decoded, as it changes the state of the
    /// compression (§4.3).
    mutating func receiveHeaders(
        _ stream: HTTP2StreamID, _ block: HTTP2HeaderBlock, endStream: Bool, _ input: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> HTTP2Event? {
        try decode(block, input)
        let location = locate(stream)
        switch location {
        case .open(let place):
            guard let phase = streams[place].state.receiving else {
                return try receiveStreamError(HTTP2Error(.closedStream, .stream(stream)))
            }
            return try receive(phase, stream, at: place, endStream: endStream)
        case .idle:
            guard role == .server, stream.isClientInitiated else { throw HTTP2Error(.badStreamID) }
            return try receiveRequest(stream, endStream: endStream)
        case .reset, .ended:
            try receiveOnClosedStream(stream, location)
            return nil
        }
    }

    private mutating func decode(_ block: HTTP2HeaderBlock, _ input: UnsafeRawBufferPointer) throws(HTTP2Error) {
        let result = frames.withBytes(of: block, input: input) { bytes -> Result<Void, HTTP2Error> in
            Result { () throws(HTTP2Error) in try headers.decode(bytes) }
        }
        try result.get()
    }

    /// Receives HEADERS on an open stream: a response, or the trailers of either message.
    private mutating func receive(
        _ phase: ReceivePhase, _ stream: HTTP2StreamID, at place: Int, endStream: Bool
    ) throws(HTTP2Error) -> HTTP2Event? {
        let head: HTTP2Head
        do throws(HTTP2Error.Kind) {
            try headers.check(isResponse: role == .client)
            switch phase {
            // A server's streams begin with the request's head, so only a client waits for a head here.
            case .head: head = try receiveResponse(at: place, endStream: endStream)
            case .body: head = try receiveTrailers(at: place, endStream: endStream)
            }
        } catch {
            return try receiveStreamError(HTTP2Error(error, .stream(stream)))
        }
        if endStream { end(stream, at: place) }
        return .headers(stream: stream, head, endStream: endStream)
    }

    private mutating func receiveResponse(at place: Int, endStream: Bool) throws(HTTP2Error.Kind) -> HTTP2Head {
        let status = try headers.list.responseStatus()
        // A 101 response is not allowed (§8.6).
        guard status != 101 else { throw .switchingProtocols }
        let fields = headers.list.fields
        if status < 200 {
            guard !endStream else { throw .interimEndsStream }
            let interims = streams[place].interims
            guard interims < .max, Int(interims) < limits.interimResponses else {
                throw .tooManyInterimResponses
            }
            streams[place].interims += 1
            return .interim(status: status, fields)
        }
        // A client ignores the length in a success of CONNECT, whose body is the tunnel (RFC 9110 §9.3.6).
        if !streams[place].isTunnel || status >= 300 {
            try expectBody(status, fields, at: place, endStream: endStream)
        }
        setReceiving(.body, at: place)
        return .response(status: status, fields)
    }

    /// Records the required length of the body that follows a response's head.
    private mutating func expectBody(
        _ status: Int, _ fields: HTTPFields, at place: Int, endStream: Bool
    ) throws(HTTP2Error.Kind) {
        if status == 204 || status == 304 {
            streams[place].missingBytes = 0
            return
        }
        guard !streams[place].expectsNoBody, let length = try fields.contentLength() else { return }
        guard !endStream || length == 0 else { throw .bodyTooShort }
        streams[place].missingBytes = length
    }

    private mutating func receiveTrailers(
        at place: Int, endStream: Bool
    ) throws(HTTP2Error.Kind) -> HTTP2Head {
        guard endStream else { throw .trailersWithoutEnd }
        guard !headers.list.hasPseudoFields else { throw .malformedPseudoField }
        guard streams[place].missingBytes <= 0 else { throw .bodyTooShort }
        return .trailers(Trailers.allowed(in: headers.list.fields))
    }

    private mutating func setReceiving(_ phase: ReceivePhase, at place: Int) {
        if let next = streams[place].state.received(phase) { streams[place].state = next }
    }

    /// Receives HEADERS that open a stream, on a server (§5.1.1).
    private mutating func receiveRequest(
        _ stream: HTTP2StreamID, endStream: Bool
    ) throws(HTTP2Error) -> HTTP2Event? {
        if isBeyondGoAway(stream) {
            try flood.charge()
            return nil
        }
        highestPeerStream = stream
        if let most = localSettings.maxConcurrentStreams, streams.count >= Int(most) {
            try flood.charge(limits.resetCost)
            refuse(stream, .refusedStream)
            return nil
        }
        var new = newStream()
        new.state =
            endStream
            ? .halfClosedRemote(sending: .head) : .open(sending: .head, receiving: .body)
        let head: HTTP2RequestHead
        do throws(HTTP2Error.Kind) {
            try headers.check(isResponse: false)
            head = try headers.list.requestHead(allowsConnectProtocol: localSettings.enableConnectProtocol)
            if let length = try head.fields.contentLength() {
                guard !endStream || length == 0 else { throw .bodyTooShort }
                new.missingBytes = length
            }
        } catch {
            try flood.charge(limits.resetCost)
            refuse(stream, error.code)
            return nil
        }
        streams.insert(new, for: stream)
        return .headers(stream: stream, .request(head), endStream: endStream)
    }

    /// A new stream in the state that both sides' settings define.
    func newStream() -> Stream {
        var new = Stream()
        new.sendWindow = SendWindow(Int(peerSettings.initialWindowSize))
        new.receiveWindow = ReceiveWindow(
            available: Int(acknowledgedSettings.initialWindowSize), target: Int(localSettings.initialWindowSize))
        return new
    }
}
