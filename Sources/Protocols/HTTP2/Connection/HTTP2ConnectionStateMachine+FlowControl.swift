extension HTTP2ConnectionStateMachine {
    /// Receives a DATA frame, or a piece of one (§6.1).
    @inline(__always)
    mutating func receive(_ fragment: HTTP2DataFragment) throws(HTTP2Error) -> HTTP2Event? {
        let location = locate(fragment.stream)
        // The frame counts against the connection's window, whatever the stream's state (§5.2.1).
        if let length = fragment.frameLength {
            guard receiveWindow.receive(length) else { throw HTTP2Error(.windowExceeded) }
            if length == 0 {
                if case .open = location { try flood.charge() }
            } else if fragment.payload.isEmpty, !fragment.endStream, frames.restOfData == (0, false) {
                try flood.charge(limits.paddingCost)
            }
        }
        guard case .open(let place) = location else {
            consumeOnConnection(fragment.flowControlled)
            // The rest of a frame whose first piece was accepted: either side has reset the stream meanwhile.
            guard let length = fragment.frameLength else { return nil }
            // After this side has reset a stream, a full window of data may still be on its way.
            if case .reset(.local) = location, length > 0 { return nil }
            try receiveOnClosedStream(fragment.stream, location)
            return nil
        }
        if let problem = accept(fragment, at: place) {
            consumeOnConnection(fragment.flowControlled)
            return try receiveStreamError(HTTP2Error(problem, .stream(fragment.stream)))
        }
        if streams[place].expectsNoBody { return drop(fragment, at: place) }
        // Once for the whole frame, however it is cut.
        if fragment.frameLength != nil { flood.refill((fragment.payload.count + frames.restOfData.count) >> 4) }
        if fragment.endStream { end(fragment.stream, at: place) }
        return .data(
            stream: fragment.stream, fragment.payload, flowControlled: fragment.flowControlled,
            endStream: fragment.endStream)
    }

    /// Drops the body of a response to HEAD. Some servers send one (Apache, when it compresses), but it is not content
    /// (RFC 9110 §9.3.2). Its end is the end of the response.
    @inline(never)
    private mutating func drop(_ fragment: HTTP2DataFragment, at place: Int) -> HTTP2Event {
        consumeOnConnection(fragment.flowControlled)
        streams[place].receiveWindow.consume(fragment.flowControlled)
        if fragment.endStream {
            end(fragment.stream, at: place)
        } else {
            updateWindow(of: fragment.stream, at: place)
        }
        let end = fragment.payload.upperBound
        return .data(stream: fragment.stream, end..<end, flowControlled: 0, endStream: fragment.endStream)
    }

    /// Counts bytes on their stream. Returns the error of the frame, if any, at the frame's first piece.
    @inline(__always)
    private mutating func accept(_ fragment: HTTP2DataFragment, at place: Int) -> HTTP2Error.Kind? {
        switch streams[place].state.receiving {
        case .body: break
        case .head: return .dataBeforeHead
        case nil: return .closedStream
        }
        guard let length = fragment.frameLength else { return nil }
        if !streams[place].receiveWindow.receive(length) { return .windowExceeded }
        if streams[place].missingBytes >= 0 {
            let rest = frames.restOfData
            streams[place].missingBytes -= Int64(fragment.payload.count + rest.count)
            if streams[place].missingBytes < 0 { return .contentLengthMismatch }
            if fragment.endStream || rest.endsStream, streams[place].missingBytes > 0 { return .bodyTooShort }
        }
        return nil
    }

    /// Receives the peer's END_STREAM.
    @inline(__always)
    mutating func end(_ stream: HTTP2StreamID, at place: Int) {
        if let next = streams[place].state.received(nil) {
            streams[place].state = next
        } else {
            streams.remove(at: place)
            flood.refill(limits.resetCost)
            justClosed = stream
        }
    }

    private mutating func consumeOnConnection(_ count: Int) {
        receiveWindow.consume(count)
        updateConnectionWindow()
    }

    private mutating func updateConnectionWindow() {
        guard !isFailed, !isRestCovered, let increment = receiveWindow.takeIncrement() else { return }
        HTTP2FrameEncoder.windowUpdate(.connection, increment: UInt32(increment), to: &control)
    }

    mutating func updateWindow(of stream: HTTP2StreamID, at place: Int) {
        guard !isFailed, mayNeedWindow(at: place) else { return }
        guard let increment = streams[place].receiveWindow.takeIncrement(pending: pendingWindowChange) else { return }
        HTTP2FrameEncoder.windowUpdate(stream, increment: UInt32(increment), to: &control)
    }

    /// The most bytes of padding in a DATA frame, with their length (§6.1).
    private static let mostPadding = 256

    /// Whether the peer may need more of a stream's window: its last byte has not arrived, and the window does not
    /// cover the rest of a response that `content-length` announces.
    package func mayNeedWindow(on stream: HTTP2StreamID) -> Bool {
        streams.find(stream).map { mayNeedWindow(at: $0) } ?? false
    }

    /// A server that has written a whole response may have closed the connection. Its system would answer an update
    /// with a reset, and discard the bytes that it has not sent yet. Padding uses the window, and `content-length` does
    /// not count it: the window covers that of one frame, after which this method is called again.
    private func mayNeedWindow(at place: Int) -> Bool {
        guard streams[place].state.receiving != nil else { return false }
        let missing = streams[place].missingBytes
        if role == .server || missing < 0 { return true }
        let window = streams[place].receiveWindow.available + pendingWindowChange
        return missing > Int64(window - Self.mostPadding)
    }

    /// Whether no further streams are opened, and the connection's window covers the rest of all responses.
    private var isRestCovered: Bool {
        guard role == .client, goAwayReceived != nil else { return false }
        var window = Int64(receiveWindow.available)
        for entry in streams.places where entry.id != 0 && entry.value.state.receiving != nil {
            let missing = entry.value.missingBytes
            window -= Int64(Self.mostPadding)
            guard missing >= 0, missing <= window else { return false }
            window -= missing
        }
        return true
    }

    /// The change of each stream's window by settings that are not yet acknowledged.
    private var pendingWindowChange: Int {
        Int(localSettings.initialWindowSize) - Int(acknowledgedSettings.initialWindowSize)
    }

    /// The number by which settings may enlarge the windows of all open streams.
    mutating func largestWindowGrowth() -> Int {
        let pending = pendingWindowChange
        var growth = SendWindow.largest
        streams.forEach { (stream) throws(Never) in
            growth = min(growth, SendWindow.largest - stream.receiveWindow.available - pending)
        }
        return growth
    }

    /// Returns `count` bytes of ``HTTP2Event/data(stream:_:flowControlled:endStream:)`` to the windows after they were
    /// consumed, so that the peer may send the same number again. If the stream has ended, the bytes still count for
    /// the connection's window. A client sends no window update where the window covers the rest of the response, as
    /// `content-length` announces it.
    public mutating func didConsume(_ count: Int, on stream: HTTP2StreamID) {
        openConnectionWindow(by: count)
        openWindow(of: stream, by: count)
    }

    /// Returns `count` bytes to the connection's window only. A caller that keeps a stream's bytes for a while may
    /// return them here at once, so that only this stream is held back, and return them to the stream's window later.
    public mutating func openConnectionWindow(by count: Int) { consumeOnConnection(count) }

    /// Returns `count` bytes to a stream's window only.
    public mutating func openWindow(of stream: HTTP2StreamID, by count: Int) {
        guard let place = streams.find(stream) else { return }
        streams[place].receiveWindow.consume(count)
        updateWindow(of: stream, at: place)
    }

    /// Sets the number of bytes that the peer may send on a stream before they are consumed; at most 2³¹ - 1. A smaller
    /// window takes effect as bytes are consumed, because a granted window cannot be taken back.
    public mutating func setReceiveWindow(_ size: Int, of stream: HTTP2StreamID) {
        guard let place = streams.find(stream) else { return }
        streams[place].receiveWindow.target = min(max(0, size), SendWindow.largest)
        updateWindow(of: stream, at: place)
    }

    /// Sets the number of bytes that the peer may send on all streams together before they are consumed; at most 2³¹ -
    /// 1.
    public mutating func setConnectionReceiveWindow(_ size: Int) {
        receiveWindow.target = min(max(0, size), SendWindow.largest)
        updateConnectionWindow()
    }

    /// Receives WINDOW_UPDATE (§6.9).
    mutating func receiveWindowUpdate(_ stream: HTTP2StreamID, _ increment: Int) throws(HTTP2Error) -> HTTP2Event? {
        guard stream != .connection else {
            try flood.charge()
            return try enlargeConnectionWindow(increment)
        }
        let location = locate(stream)
        if case .reset(.local) = location {
            try flood.chargeLateFrame()
            return nil
        }
        try flood.charge()
        guard case .open(let place) = location else {
            // The frame may arrive for some time on a stream that has ended (§5.1).
            if case .idle = location { try receiveOnIdleStream(stream) }
            return nil
        }
        guard streams[place].sendWindow.grow(increment) else {
            return try receiveStreamError(HTTP2Error(.windowOverflow, .stream(stream)))
        }
        guard streams[place].isBlocked, streams[place].sendWindow.available > 0 else { return nil }
        streams[place].isBlocked = false
        return .windowOpened(stream: stream)
    }

    private mutating func enlargeConnectionWindow(_ increment: Int) throws(HTTP2Error) -> HTTP2Event? {
        guard sendWindow.grow(increment) else { throw HTTP2Error(.windowOverflow) }
        guard isBlocked, sendWindow.available > 0 else { return nil }
        isBlocked = false
        return .windowOpened(stream: .connection)
    }

    /// The number of body bytes that one DATA frame on this stream may contain now: the rest of the stream's window and
    /// of the connection's, up to the peer's largest frame. If it is 0, ``HTTP2Event/windowOpened(stream:)`` reports
    /// when to call this method again. The end of a stream may still be sent, without bytes.
    public mutating func sendableBytes(on stream: HTTP2StreamID) -> Int {
        guard let place = streams.find(stream), case .body? = streams[place].state.sending else { return 0 }
        if sendWindow.available <= 0 { isBlocked = true }
        if streams[place].sendWindow.available <= 0 { streams[place].isBlocked = true }
        let window = min(sendWindow.available, streams[place].sendWindow.available)
        return max(0, min(window, Int(peerSettings.maxFrameSize)))
    }
}

extension HTTP2ConnectionStateMachine {
    /// The number of bytes that the peer accepts on a stream, or (stream 0) on all streams together, before it enlarges
    /// the window. It may be below 0 (§6.9.2). 0 for a stream that has ended.
    public func sendWindow(for stream: HTTP2StreamID) -> Int {
        guard stream != .connection else { return sendWindow.available }
        return streams.find(stream).map { streams[$0].sendWindow.available } ?? 0
    }

    /// The number of bytes that the peer may send on a stream, or (stream 0) on all streams together, before this side
    /// enlarges the window. It may be below 0 (§6.9.2). 0 for a stream that has ended. Settings count after the peer's
    /// acknowledgement: until it arrives, the window of a stream may be larger than 2³¹ - 1 here.
    public func receiveWindow(for stream: HTTP2StreamID) -> Int {
        guard stream != .connection else { return receiveWindow.available }
        return streams.find(stream).map { streams[$0].receiveWindow.available } ?? 0
    }
}
