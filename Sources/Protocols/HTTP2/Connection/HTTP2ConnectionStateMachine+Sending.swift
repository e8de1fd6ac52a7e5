extension HTTP2ConnectionStateMachine {
    /// The number of further streams that this side may open now: the peer's limit (100 until its settings arrive)
    /// minus the open streams; none while the connection is closing.
    public var availableStreams: Int {
        guard role == .client, !isClosing, nextStream <= HTTP2StreamID.last.rawValue else { return 0 }
        let most: Int
        if case .awaitingSettings = state {
            most = 100
        } else {
            most = peerSettings.maxConcurrentStreams.map { Int($0) } ?? Int(Int32.max)
        }
        return max(0, most - streams.count)
    }

    /// Opens a stream with a request's header fields (§8.3.1), appends them to `output` and returns the stream's
    /// number.
    ///
    /// If the method throws, no bytes were appended.
    public mutating func sendRequest(
        _ head: HTTP2RequestHead, endStream: Bool, to output: inout [UInt8]
    ) throws(HTTP2Error) -> HTTP2StreamID {
        guard role == .client else { throw HTTP2Error(.wrongRole, .call) }
        guard !isClosing else { throw HTTP2Error(.connectionClosing, .call) }
        guard nextStream <= HTTP2StreamID.last.rawValue else { throw HTTP2Error(.streamIDsExhausted, .call) }
        guard availableStreams > 0 else { throw HTTP2Error(.streamLimitReached, .call) }
        try SendRules.check(head, allowsConnectProtocol: peerSettings.enableConnectProtocol)
        if !head.fields.isIdentical(to: checkedFields) {
            try SendRules.check(head.fields)
            checkedFields = head.fields
        }
        try headers.encode(head, limit: peerSettings.maxHeaderListSize)
        let stream = HTTP2StreamID(rawValue: nextStream)
        nextStream += 2
        var new = newStream()
        new.expectsNoBody = head.method == "HEAD"
        new.isTunnel = head.method == "CONNECT"
        new.state = endStream ? .halfClosedLocal(receiving: .head) : .open(sending: .body, receiving: .head)
        streams.insert(new, for: stream)
        flood.refill(limits.resetCost)
        drainControlBytes(into: &output)
        writeBlock(stream, endStream: endStream, to: &output)
        return stream
    }

    /// Appends a response's header fields (§8.3.2). A response with a status below 200 is an interim response, which is
    /// followed by others.
    public mutating func sendResponse(
        _ status: Int, _ fields: HTTPFields, on stream: HTTP2StreamID, endStream: Bool, to output: inout [UInt8]
    ) throws(HTTP2Error) {
        guard role == .server else { throw HTTP2Error(.wrongRole, .call) }
        let place = try sendingPlace(stream)
        switch streams[place].state.sending {
        case .head: break
        case .body: throw HTTP2Error(.headSent, .call)
        case nil: throw HTTP2Error(.sendClosed, .call)
        }
        guard (100...999).contains(status), status != 101, status >= 200 || !endStream else {
            throw HTTP2Error(.invalidValue, .call)
        }
        try SendRules.check(fields)
        drainControlBytes(into: &output)
        headers.encode(status: status, fields)
        writeBlock(stream, endStream: endStream, to: &output)
        if status >= 200 { didSend(.body, endStream: endStream, at: place) }
    }

    /// Appends trailer fields, which end this side of the stream (§8.1).
    public mutating func sendTrailers(
        _ fields: HTTPFields, on stream: HTTP2StreamID, to output: inout [UInt8]
    ) throws(HTTP2Error) {
        let place = try bodyPlace(stream)
        try SendRules.check(fields)
        drainControlBytes(into: &output)
        headers.encode(trailers: fields)
        writeBlock(stream, endStream: true, to: &output)
        didSend(.body, endStream: true, at: place)
    }

    /// The number of bytes that ``sendDataHeader(_:on:endStream:to:)`` adds for the frame itself.
    public static let dataHeaderBytes = FrameHeader.size

    /// Appends the header of a DATA frame. The caller sends the frame's `count` bytes directly after it, from its own
    /// memory.
    ///
    /// `count` is at most the result of ``sendableBytes(on:)``. The bytes of all frames together are as many as
    /// `content-length` says, if the head has it, and there are none in a response to HEAD or with status 204 or 304
    /// (§8.1.1). This method does not count them; the peer ends a stream that has others.
    public mutating func sendDataHeader(
        _ count: Int, on stream: HTTP2StreamID, endStream: Bool, to output: inout [UInt8]
    ) throws(HTTP2Error) {
        let place = try bodyPlace(stream)
        let window = max(0, min(sendWindow.available, streams[place].sendWindow.available))
        guard count >= 0, count <= min(window, Int(peerSettings.maxFrameSize)) else {
            throw HTTP2Error(.windowTooSmall, .call)
        }
        drainControlBytes(into: &output)
        HTTP2FrameEncoder.dataHeader(length: count, stream: stream, endStream: endStream, to: &output)
        sendWindow.take(count)
        streams[place].sendWindow.take(count)
        allowInterimResponses(for: count, at: place)
        // Body data counts as useful work, except frames that are small because the peer opens its window by a few
        // bytes at a time.
        flood.refill(count < window ? 2 + count >> 8 : count >> 8)
        didSend(.body, endStream: endStream, at: place)
    }

    /// For a number of sent bytes the peer may send one more interim response than the limit.
    private mutating func allowInterimResponses(for count: Int, at place: Int) {
        let bytes = limits.bytesForInterimResponse
        guard bytes > 0 else { return }
        let sent = Int(streams[place].sentBytes) + count
        streams[place].sentBytes = UInt32(clamping: sent % bytes)
        streams[place].interims = Int32(clamping: Int(streams[place].interims) - sent / bytes)
    }

    private func sendingPlace(_ stream: HTTP2StreamID) throws(HTTP2Error) -> Int {
        if isFailed { throw HTTP2Error(.connectionClosing, .call) }
        guard let place = streams.find(stream) else { throw HTTP2Error(.unknownStream, .call) }
        return place
    }

    /// The place of a stream on which a body may be sent.
    private func bodyPlace(_ stream: HTTP2StreamID) throws(HTTP2Error) -> Int {
        let place = try sendingPlace(stream)
        switch streams[place].state.sending {
        case .body: return place
        case .head: throw HTTP2Error(.headNotSent, .call)
        case nil: throw HTTP2Error(.sendClosed, .call)
        }
    }

    private mutating func didSend(_ phase: SendPhase, endStream: Bool, at place: Int) {
        if let next = streams[place].state.sent(endStream ? nil : phase) {
            streams[place].state = next
        } else {
            streams.remove(at: place)
            flood.refill(limits.resetCost)
        }
    }

    /// Appends the block that was last encoded.
    private mutating func writeBlock(_ stream: HTTP2StreamID, endStream: Bool, to output: inout [UInt8]) {
        headers.block.withUnsafeBytes {
            HTTP2FrameEncoder.headers(
                $0, stream: stream, endStream: endStream, maxFrameSize: Int(peerSettings.maxFrameSize), to: &output)
        }
    }
}
