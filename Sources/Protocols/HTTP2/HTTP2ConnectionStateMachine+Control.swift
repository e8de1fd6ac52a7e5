// Frames that are about the connection or a stream, not of a message (RFC 9113 §6.4 to §6.9).
extension HTTP2ConnectionStateMachine {
    mutating func receiveReset(_ stream: UInt32, _ code: HTTP2ErrorCode) throws(HTTP2Error) -> HTTP2Event? {
        guard !isIdle(stream) else {
            throw .connection(.protocolError, "RST_STREAM on stream \(stream), which was not opened")
        }
        guard discard(stream) else {
            try flood.countUseless("RST_STREAM on a stream that is closed")
            return nil
        }
        // Opening and resetting costs a client nothing, and a server its work (CVE-2023-44487).
        if role == .server { try flood.countReset() }
        return .reset(stream: stream, code)
    }

    mutating func receiveSettings(_ parameters: [HTTP2Setting]) throws(HTTP2Error) -> HTTP2Event? {
        try flood.countUseless("SETTINGS")
        let oldWindow = peerSettings.initialWindowSize
        for parameter in parameters {
            try peerSettings.apply(parameter)
            // The smallest size in between must be told to the peer's decoder (RFC 7541 §4.2).
            if parameter.identifier == HTTP2Setting.headerTableSize {
                encoder.setMaximumTableSize(Int(parameter.value))
            }
        }
        if role == .client, parameters.contains(HTTP2Setting(HTTP2Setting.enablePush, 1)) {
            throw .connection(.protocolError, "a server that says it may be sent pushes")
        }
        let change = peerSettings.initialWindowSize - oldWindow
        if change != 0 {
            var isTooLarge = false
            streams.updateAll { _, stream in
                stream.sendWindow += change
                if stream.sendWindow > HTTP2Settings.maximumWindow { isTooLarge = true }
            }
            if isTooLarge { throw .connection(.flowControlError, "SETTINGS make a window larger than there may be") }
        }
        hasPeerSettings = true
        HTTP2FrameWriter.settingsAcknowledgement(into: &output)
        return .settingsChanged
    }

    mutating func receiveGoAway(
        _ lastStream: UInt32, _ code: HTTP2ErrorCode, _ debugData: [UInt8]
    ) throws(HTTP2Error) -> HTTP2Event? {
        try flood.countUseless("GOAWAY")
        let last = min(lastStream, lastAcceptedStream ?? .max)
        lastAcceptedStream = last
        for stream in streams.allIdentifiers where isOwn(stream) && stream > last { discard(stream) }
        return .goAway(lastStream: last, code, debugText: String(decoding: debugData, as: UTF8.self))
    }

    mutating func receiveWindowUpdate(_ stream: UInt32, _ increment: Int) throws(HTTP2Error) -> HTTP2Event? {
        // A peer that opens its window by bytes makes this side send frames of bytes.
        if increment < limits.usefulBytesPerFrame { try flood.countUseless("WINDOW_UPDATE by \(increment)") }
        if stream == 0 {
            sendWindow += increment
            guard sendWindow <= HTTP2Settings.maximumWindow else {
                throw .connection(.flowControlError, "the connection's window grew larger than there may be")
            }
            return .windowOpened(stream: 0)
        }
        guard let index = streams.index(of: stream) else {
            guard !isIdle(stream) else {
                throw .connection(.protocolError, "WINDOW_UPDATE on stream \(stream), which was not opened")
            }
            // After its end it may come for a while.
            if !recentlyEnded.contains(stream), !recentlyReset.contains(stream) {
                try flood.countUseless("WINDOW_UPDATE on a stream that is closed")
            }
            return nil
        }
        let window = streams.update(at: index) {
            $0.sendWindow += increment
            return $0.sendWindow
        }
        guard let window, window <= HTTP2Settings.maximumWindow else {
            throw .stream(stream, .flowControlError, "the stream's window grew larger than there may be")
        }
        return .windowOpened(stream: stream)
    }

    // MARK: What this side takes

    /// The consumer has taken so many bytes of a stream's body: the peer may send as many again.
    public mutating func didConsume(_ count: Int, of stream: UInt32) { consume(count, of: stream) }

    mutating func consume(_ count: Int, of stream: UInt32?) {
        if case .failed = phase { return }
        if let increment = receiving.consume(count) {
            HTTP2FrameWriter.windowUpdate(stream: 0, increment: increment, into: &output)
        }
        guard let stream, let index = streams.index(of: stream) else { return }
        let increment = streams.update(at: index) { value -> Int? in
            if case .halfClosedRemote = value.state { return nil }
            return value.receiving.consume(count)
        }
        if case .some(.some(let increment)) = increment {
            HTTP2FrameWriter.windowUpdate(stream: stream, increment: increment, into: &output)
        }
    }

    /// Lets the peer have so many bytes on their way on all streams together. It is never made smaller than it is.
    public mutating func setConnectionWindow(_ bytes: Int) {
        receiving.target = max(receiving.target, min(bytes, HTTP2Settings.maximumWindow))
        consume(0, of: nil)
    }

    /// Lets the peer have so many bytes on their way on each stream, of those to come as of those that are open.
    public mutating func setStreamWindow(_ bytes: Int) {
        let bytes = min(bytes, HTTP2Settings.maximumWindow)
        guard bytes > settings.initialWindowSize else { return }
        settings.initialWindowSize = bytes
        HTTP2FrameWriter.settings(
            [HTTP2Setting(HTTP2Setting.initialWindowSize, UInt32(clamping: bytes))], into: &output)
        // The setting opens the windows of the open streams, too, by the difference (RFC 9113 §6.9.2).
        streams.updateAll { _, stream in stream.receiving.raise(to: bytes) }
    }
}
