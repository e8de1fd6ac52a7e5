extension HTTP2ConnectionStateMachine {
    /// GOAWAY (§6.8). The peer may send several, with lower numbers.
    mutating func receiveGoAway(
        _ lastStream: HTTP2StreamID, _ code: HTTP2ErrorCode, _ debugData: [UInt8]
    ) throws(HTTP2Error) -> HTTP2Event? {
        try flood.charge()
        let last = min(lastStream, goAwayReceived ?? .last)
        goAwayReceived = last
        // Of a server none: its streams would be pushed ones.
        let unprocessed = role == .client ? streams.ids.filter { $0 > last } : []
        for stream in unprocessed {
            if let place = streams.find(stream) { streams.remove(at: place) }
            resets.add(stream, .local)
        }
        return .goAway(lastStream: last, code, debugData: debugData, unprocessed: unprocessed)
    }

    /// Whether no further stream is opened, because of either side's GOAWAY or an error.
    public var isClosing: Bool {
        if case .failed = state { return true }
        return goAwaySent != nil || goAwayReceived != nil
    }

    /// Appends a GOAWAY frame that names the last of the peer's streams that has been received; later ones are ignored.
    public mutating func sendGoAway(
        _ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = [], to output: inout [UInt8]
    ) {
        appendGoAway(min(goAwaySent ?? .last, highestPeerStream), code, debugData, to: &output)
    }

    /// Appends the first of two GOAWAY frames that end a connection without a race (§6.8): the peer learns that it should
    /// open no more streams, and those on their way are still taken. ``sendGoAway(_:debugData:to:)`` follows a round trip
    /// later: for example after the answer to a PING.
    public mutating func sendShutdownNotice(to output: inout [UInt8]) {
        appendGoAway(goAwaySent ?? .last, .noError, [], to: &output)
    }

    private mutating func appendGoAway(
        _ lastStream: HTTP2StreamID, _ code: HTTP2ErrorCode, _ debugData: [UInt8], to output: inout [UInt8]
    ) {
        drainControlBytes(into: &output)
        if case .failed = state { return }
        goAwaySent = lastStream
        HTTP2FrameEncoder.goAway(
            lastStream: lastStream, code, debugData: Array(debugData.prefix(1024)), to: &output)
    }

    /// Appends a PING frame; ``HTTP2Event/pingAcknowledged(_:)`` brings the number back.
    public mutating func sendPing(_ opaque: UInt64, to output: inout [UInt8]) {
        drainControlBytes(into: &output)
        if case .failed = state { return }
        unansweredPings += 1
        HTTP2FrameEncoder.ping(opaque, to: &output)
    }

    /// Appends a RST_STREAM frame, after which nothing is sent or received on the stream. Nothing happens when it has
    /// ended already.
    public mutating func sendReset(
        _ stream: HTTP2StreamID, _ code: HTTP2ErrorCode = .cancel, to output: inout [UInt8]
    ) {
        guard let place = streams.find(stream) else { return }
        reset(stream, at: place, code)
        drainControlBytes(into: &output)
    }
}
