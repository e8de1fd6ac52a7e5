extension HTTP2ConnectionStateMachine {
    /// Reads `input` from `position`, which is advanced, until there is an event. Nil means that all of the input was
    /// read.
    ///
    /// An error ends the connection: a GOAWAY frame waits in ``drainControlBytes(into:)``, and each further call throws
    /// the same error. An error of one stream is an event.
    public mutating func receive(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP2Error) -> HTTP2Event? {
        do throws(HTTP2Error) {
            return try advance(input, &position)
        } catch {
            fail(error)
            throw error
        }
    }

    private mutating func fail(_ error: HTTP2Error) {
        if isFailed { return }
        state = .failed(error)
        HTTP2FrameEncoder.goAway(lastStream: highestPeerStream, error.code, to: &control)
    }

    private mutating func advance(
        _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP2Error) -> HTTP2Event? {
        if let stream = justClosed {
            justClosed = nil
            eventBytes = 0
            return .streamClosed(stream: stream)
        }
        while true {
            switch state {
            case .failed(let error): throw error
            case .awaitingPreface(let matched):
                guard try readPreface(matched, input, &position) else { return nil }
                state = .awaitingSettings
            case .awaitingSettings, .active:
                let start = position
                let frame: HTTP2Frame?
                do throws(HTTP2Error) {
                    frame = try frames.next(input, &position)
                } catch {
                    frameDidEnd(position - start)
                    if let event = try receiveStreamError(error) { return event }
                    continue
                }
                guard let frame else {
                    pendingBytes += position - start
                    return nil
                }
                frameDidEnd(position - start)
                if let event = try receive(frame, input) { return event }
                guard control.count <= limits.pendingControlBytes else { throw HTTP2Error(.pendingControlFlood) }
            }
        }
    }

    /// - Parameter count: the bytes of the frame in this input.
    @inline(__always)
    private mutating func frameDidEnd(_ count: Int) {
        eventBytes = pendingBytes + count
        pendingBytes = 0
    }

    /// Compares the client's preface (§3.4). Returns false if the input ends before the preface does.
    private mutating func readPreface(
        _ matched: Int, _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP2Error) -> Bool {
        var matched = matched
        while matched < Self.preface.count, position < input.count {
            guard input[position] == Self.preface[matched] else { throw HTTP2Error(.badPreface) }
            matched += 1
            position += 1
        }
        state = .awaitingPreface(matched: matched)
        return matched == Self.preface.count
    }

    @inline(__always)
    private mutating func receive(
        _ frame: HTTP2Frame, _ input: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> HTTP2Event? {
        if case .awaitingSettings = state {
            guard case .settings(let settings) = frame else { throw HTTP2Error(.firstFrameNotSettings) }
            state = .active
            return try receive(settings, isFirst: true)
        }
        switch frame {
        case .data(let fragment): return try receive(fragment)
        case .headers(let stream, let endStream, _, let block):
            return try receiveHeaders(stream, block, endStream: endStream, input)
        case .windowUpdate(let stream, let increment): return try receiveWindowUpdate(stream, Int(increment))
        case .resetStream(let stream, let code): return try receiveReset(stream, code)
        case .settings(let settings): return try receive(settings, isFirst: false)
        case .settingsAcknowledgement: return try receiveSettingsAcknowledgement()
        case .ping(let opaque, let isAcknowledgement):
            return try receivePing(opaque, isAcknowledgement: isAcknowledgement)
        case .goAway(let lastStream, let code, let debugData):
            return try receiveGoAway(lastStream, code, debugData)
        // Push is refused in SETTINGS, and a client must not push (§8.4).
        case .pushPromise: throw HTTP2Error(.pushRefused)
        // PRIORITY is deprecated (§5.3). It is ignored in every state, as are unknown types (§5.5).
        case .priority, .unknown:
            try flood.charge()
            return nil
        }
    }

    private mutating func receivePing(_ opaque: UInt64, isAcknowledgement: Bool) throws(HTTP2Error) -> HTTP2Event? {
        if isAcknowledgement, unansweredPings > 0 {
            unansweredPings -= 1
            return .pingAcknowledged(opaque)
        }
        try flood.charge()
        if isAcknowledgement { return .pingAcknowledged(opaque) }
        HTTP2FrameEncoder.ping(opaque, isAcknowledgement: true, to: &control)
        return nil
    }

    private mutating func receiveReset(
        _ stream: HTTP2StreamID, _ code: HTTP2ErrorCode
    ) throws(HTTP2Error) -> HTTP2Event? {
        let location = locate(stream)
        switch location {
        case .open(let place):
            streams.remove(at: place)
            resets.add(stream, .peer)
            try chargeReset(of: location)
            return .streamReset(stream: stream, code)
        case .idle:
            try receiveOnIdleStream(stream)
            return nil
        case .reset(.local):
            try flood.chargeLateFrame()
            return nil
        case .reset(.peer), .ended:
            try flood.charge()
            return nil
        }
    }

    /// The state of the stream on which a frame arrived.
    enum Location {
        /// The stream is in the table, at this place.
        case open(Int)
        case idle
        case reset(ResetMemory.Origin)
        /// The stream was closed by END_STREAM of both sides.
        case ended
    }

    @inline(__always)
    func locate(_ stream: HTTP2StreamID) -> Location {
        if let place = streams.find(stream) { return .open(place) }
        return locateClosed(stream)
    }

    private func locateClosed(_ stream: HTTP2StreamID) -> Location {
        let isOurs = stream.isClientInitiated == (role == .client)
        let wasUsed = isOurs ? stream.rawValue < nextStream : stream <= highestPeerStream
        guard wasUsed else { return .idle }
        return resets.origin(of: stream).map { .reset($0) } ?? .ended
    }

    /// Ends a stream because of a stream error, or the connection because of a connection error (§5.4).
    mutating func receiveStreamError(_ error: HTTP2Error) throws(HTTP2Error) -> HTTP2Event? {
        guard case .stream(let stream) = error.scope else { throw error }
        if case .awaitingSettings = state { throw HTTP2Error(.firstFrameNotSettings) }
        let location = locate(stream)
        try chargeReset(of: location)
        switch location {
        case .open(let place):
            reset(stream, at: place, error.code)
            return .streamFailed(stream: stream, error)
        // A stream that is not open is not reset (§6.4). PRIORITY may arrive before the stream is opened (§5.1).
        case .idle where error.kind == .frameSize: return nil
        case .idle where isBeyondGoAway(stream): return nil
        case .idle: throw HTTP2Error(error.kind, .connection, code: error.code)
        case .reset, .ended: return nil
        }
    }

    /// Takes the cost of a stream that the peer resets, or causes this side to reset. A client has opened its streams
    /// itself: a server may end all of them at once, for example when its backend fails.
    private mutating func chargeReset(of location: Location) throws(HTTP2Error) {
        if role == .client, case .open = location { return }
        try flood.charge(limits.resetCost)
    }

    /// Resets a stream in the table.
    mutating func reset(_ stream: HTTP2StreamID, at place: Int, _ code: HTTP2ErrorCode) {
        streams.remove(at: place)
        refuse(stream, code)
    }

    /// Answers a frame on a stream that is not in the table with RST_STREAM.
    mutating func refuse(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        resets.add(stream, .local)
        if !isFailed { HTTP2FrameEncoder.resetStream(stream, code, to: &control) }
    }

    /// A frame that requires an open stream has arrived on a stream that was never opened. A server drops the frame if
    /// its GOAWAY excluded the stream: the client sent the frame before it received the GOAWAY (§6.8).
    mutating func receiveOnIdleStream(_ stream: HTTP2StreamID) throws(HTTP2Error) {
        guard isBeyondGoAway(stream) else { throw HTTP2Error(.idleStream) }
        try flood.charge()
    }

    func isBeyondGoAway(_ stream: HTTP2StreamID) -> Bool {
        guard role == .server, stream.isClientInitiated, let goAwaySent else { return false }
        return stream > goAwaySent
    }

    /// Handles a frame that requires an open stream on a stream that is not open (§5.1). Returns without an error if
    /// the frame is to be ignored.
    mutating func receiveOnClosedStream(_ stream: HTTP2StreamID, _ location: Location) throws(HTTP2Error) {
        switch location {
        case .open: return
        case .idle: try receiveOnIdleStream(stream)
        case .reset(.local): try flood.chargeLateFrame()
        case .reset(.peer):
            try flood.charge(limits.resetCost)
            refuse(stream, .streamClosed)
        case .ended: throw HTTP2Error(.closedStream)
        }
    }
}
