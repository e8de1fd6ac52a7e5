import LoadingKitHPACK
import LoadingKitPrimitives

// What this side sends.
extension HTTP2ConnectionStateMachine {
    /// How many streams more this side may open now.
    public var availableStreams: Int {
        guard case .open = phaseForSending, lastAcceptedStream == nil, nextStream <= 0x7FFF_FFFF else { return 0 }
        let most = hasPeerSettings ? peerSettings.maximumConcurrentStreams ?? .max : Self.presumedStreams
        return max(0, most - openStreams)
    }

    /// A client may send before the server's SETTINGS are there.
    private var phaseForSending: Phase {
        if case .awaitsSettings = phase, role == .client { .open } else { phase }
    }

    func makeStream() -> HTTP2Stream {
        HTTP2Stream(
            state: .open, sendWindow: peerSettings.initialWindowSize,
            receiving: HTTP2ReceiveWindow(target: settings.initialWindowSize, window: settings.initialWindowSize))
    }

    /// Opens a stream with a request's head; gives its number. Names go out in lowercase. The caller leaves out what
    /// concerns a connection of HTTP/1.1 (RFC 9113 §8.2.2).
    public mutating func sendRequest(
        _ pseudoFields: HPACKPseudoFields, _ fields: HTTPFields, isHead: Bool = false, endStream: Bool
    ) throws(HTTP2Error) -> UInt32 {
        guard role == .client, availableStreams > 0 else { throw .call("no stream can be opened") }
        if let most = peerSettings.maximumHeaderListSize,
            HPACKEncoder.uncompressedBytes(pseudoFields, fields) > most
        {
            throw .call("the fields are longer than the \(most) bytes that the peer takes")
        }
        let number = nextStream
        nextStream += 2
        openStreams += 1
        var stream = makeStream()
        stream.state = endStream ? .halfClosedLocal : .open
        stream.isAnswerToHead = isHead
        streams.insert(stream, for: number)
        writeHeaders(number, pseudoFields, fields, endStream)
        return number
    }

    /// A response's head, interim where the status is below 200.
    public mutating func sendResponse(
        _ stream: UInt32, status: Int, _ fields: HTTPFields, endStream: Bool
    ) throws(HTTP2Error) {
        try requireSendable(stream)
        writeHeaders(stream, .response(status: status), fields, endStream)
        if endStream { ended(stream) }
    }

    /// Fields after the body; they end the stream on this side.
    public mutating func sendTrailers(_ stream: UInt32, _ fields: HTTPFields) throws(HTTP2Error) {
        try requireSendable(stream)
        writeHeaders(stream, .none, fields, true)
        ended(stream)
    }

    private func requireSendable(_ stream: UInt32) throws(HTTP2Error) {
        if case .failed(let error) = phase { throw error }
        switch streams[stream]?.state {
        case .open, .halfClosedRemote: break
        case .halfClosedLocal, nil: throw .call("stream \(stream) is closed on this side")
        }
    }

    private mutating func writeHeaders(
        _ stream: UInt32, _ pseudoFields: HPACKPseudoFields, _ fields: HTTPFields, _ endStream: Bool
    ) {
        let start = output.count
        HTTP2FrameHeader(
            length: 0, type: .headers, flags: endStream ? [.endStream, .endHeaders] : .endHeaders, stream: stream
        ).write(into: &output)
        encoder.encode(pseudoFields, fields, into: &output)
        let length = output.count - start - HTTP2FrameHeader.size
        guard length > peerSettings.maximumFrameSize else { return output.setUInt24(length, at: start) }
        // Rare: too long for one frame.
        let block = Array(output[(start + HTTP2FrameHeader.size)...])
        output.removeSubrange(start...)
        HTTP2FrameWriter.headers(
            stream: stream, block: block, endStream: endStream, maximumFrameSize: peerSettings.maximumFrameSize,
            into: &output)
    }

    /// How many bytes of a body may be sent now, in one frame.
    public func sendableBytes(_ stream: UInt32) -> Int {
        guard let value = streams[stream] else { return 0 }
        return max(0, min(value.sendWindow, sendWindow, peerSettings.maximumFrameSize))
    }

    /// One DATA frame.
    public mutating func sendData(
        _ stream: UInt32, _ bytes: UnsafeRawBufferPointer, endStream: Bool
    ) throws(HTTP2Error) {
        try requireSendable(stream)
        guard bytes.count <= sendableBytes(stream) || bytes.isEmpty else {
            throw .call("more bytes than stream \(stream)'s window allows")
        }
        HTTP2FrameWriter.data(stream: stream, count: bytes.count, endStream: endStream, into: &output)
        output.append(contentsOf: bytes)
        sendWindow -= bytes.count
        if let index = streams.index(of: stream) { _ = streams.update(at: index) { $0.sendWindow -= bytes.count } }
        if endStream { ended(stream) }
    }

    /// This side has sent END_STREAM.
    private mutating func ended(_ stream: UInt32) {
        guard let index = streams.index(of: stream) else { return }
        let isOver = streams.update(at: index) { stream -> Bool in
            switch stream.state {
            case .open:
                stream.state = .halfClosedLocal
                return false
            case .halfClosedRemote, .halfClosedLocal:
                return true
            }
        }
        if isOver == true { endInOrder(stream) }
    }

    /// Ends a stream; what still comes for it is ignored. Does nothing when it is closed.
    public mutating func reset(_ stream: UInt32, _ code: HTTP2ErrorCode) {
        guard discard(stream) else { return }
        remember(stream)
        HTTP2FrameWriter.reset(stream: stream, code, into: &output)
    }

    /// Asks whether the peer is there; its answer is an event with this value.
    public mutating func sendPing(_ value: UInt64) { HTTP2FrameWriter.ping(value, into: &output) }

    /// Says that no more of the peer's streams will be looked at.
    public mutating func sendGoAway(_ code: HTTP2ErrorCode, debugText: String = "") {
        if case .failed = phase { return }
        hasSentGoAway = true
        HTTP2FrameWriter.goAway(lastStream: lastPeerStream, code, debugData: Array(debugText.utf8), into: &output)
    }

    /// Whether the peer has said GOAWAY, or the connection has failed: no new streams.
    public var isGoingAway: Bool {
        if case .failed = phase { return true }
        return lastAcceptedStream != nil
    }

    /// Whether a stream is neither idle nor closed.
    public func isOpen(_ stream: UInt32) -> Bool { streams.index(of: stream) != nil }

    /// Whether the peer and this side have any stream open.
    public var hasStreams: Bool { streams.count > 0 }
}
