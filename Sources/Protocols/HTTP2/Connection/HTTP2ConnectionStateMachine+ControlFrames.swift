/// The frames that concern the whole connection: its preface, its settings, PING, and GOAWAY.
extension HTTP2ConnectionStateMachine {
    /// Appends the start of a connection (§3.4): a client's preface, the settings, and an update of the connection's
    /// window if it is larger than the RFC's default. Must be called once, before any other frame is sent.
    public mutating func sendPreface(to output: inout [UInt8]) {
        if role == .client { output.append(contentsOf: Self.preface) }
        var before = HTTP2Settings()
        if role == .server { before.enablePush = localSettings.enablePush }
        sendSettings(localSettings.changes(from: before), to: &output)
        if let increment = receiveWindow.takeIncrement(minimum: 1) {
            HTTP2FrameEncoder.windowUpdate(.connection, increment: UInt32(increment), to: &output)
        }
    }

    /// Appends a SETTINGS frame with the changed values. They are in effect after the peer has acknowledged them.
    ///
    /// If a larger `initialWindowSize` would enlarge the window of an open stream beyond 2³¹ - 1, a smaller one is sent,
    /// because the peer would end the connection (§6.9.2). A stream whose bytes are all consumed has the new window: a
    /// WINDOW_UPDATE follows where a smaller setting leaves it less.
    public mutating func updateSettings(_ settings: HTTP2Settings, to output: inout [UInt8]) {
        drainControlBytes(into: &output)
        if isFailed { return }
        let before = localSettings
        var settings = Self.allowed(settings, role)
        let difference = min(Int(settings.initialWindowSize) - Int(before.initialWindowSize), largestWindowGrowth())
        settings.initialWindowSize = UInt32(clamping: Int(before.initialWindowSize) + difference)
        streams.forEach { (stream) throws(Never) in
            stream.receiveWindow.target = min(max(0, stream.receiveWindow.target + difference), SendWindow.largest)
        }
        localSettings = settings
        sendSettings(settings.changes(from: before), to: &output)
        guard difference < 0 else { return }
        for stream in streams.ids {
            if let place = streams.find(stream) { updateWindow(of: stream, at: place) }
        }
        drainControlBytes(into: &output)
    }

    private mutating func sendSettings(_ changes: [HTTP2Setting], to output: inout [UInt8]) {
        HTTP2FrameEncoder.settings(changes, to: &output)
        unacknowledged.append(localSettings)
        // A larger frame may arrive as soon as the peer has read the settings. A smaller limit applies after the peer's
        // acknowledgement.
        frames.maxFrameSize = max(frames.maxFrameSize, Int(localSettings.maxFrameSize))
    }

    /// Receives SETTINGS with ACK (§6.5.3).
    mutating func receiveSettingsAcknowledgement() throws(HTTP2Error) -> HTTP2Event? {
        guard let settings = unacknowledged.first else { throw HTTP2Error(.unexpectedSettingsAcknowledgement) }
        unacknowledged.removeFirst()
        let difference = Int(settings.initialWindowSize) - Int(acknowledgedSettings.initialWindowSize)
        if difference != 0 {
            streams.forEach { (stream) throws(Never) in stream.receiveWindow.settingDidChange(by: difference) }
        }
        acknowledgedSettings = settings
        frames.maxFrameSize = Int(settings.maxFrameSize)
        headers.setDecoderTableSize(Int(settings.headerTableSize))
        return .settingsAcknowledged
    }

    /// Receives SETTINGS (§6.5): applies them in order and acknowledges them.
    mutating func receive(_ settings: [HTTP2Setting], isFirst: Bool) throws(HTTP2Error) -> HTTP2Event? {
        try flood.charge(1 + settings.count)
        for setting in settings { try apply(setting) }
        HTTP2FrameEncoder.settingsAcknowledgement(to: &control)
        return isFirst ? .ready(peerSettings) : .settingsChanged(peerSettings)
    }

    private mutating func apply(_ setting: HTTP2Setting) throws(HTTP2Error) {
        let before = peerSettings
        try peerSettings.apply(setting)
        // §6.5.2: for a client, any value but 0 from a server is an error.
        if role == .client, setting.identifier == .enablePush, setting.value != 0 { throw HTTP2Error(.badSetting) }
        if setting.identifier == .headerTableSize { headers.setEncoderTableSize(Int(setting.value)) }
        let difference = Int(peerSettings.initialWindowSize) - Int(before.initialWindowSize)
        guard difference != 0 else { return }
        // §6.9.2: the windows of all streams change and may fall below 0. The connection's window does not change.
        try streams.forEach { (stream) throws(HTTP2Error) in
            guard stream.sendWindow.grow(difference) else { throw HTTP2Error(.windowOverflow) }
        }
    }

    /// Receives GOAWAY (§6.8). The peer may send several, with decreasing numbers.
    mutating func receiveGoAway(
        _ lastStream: HTTP2StreamID, _ code: HTTP2ErrorCode, _ debugData: [UInt8]
    ) throws(HTTP2Error) -> HTTP2Event? {
        try flood.charge()
        let last = min(lastStream, goAwayReceived ?? .last)
        goAwayReceived = last
        // A server's own streams would be pushed ones, so it has none.
        let unprocessed = role == .client ? streams.ids.filter { $0 > last } : []
        for stream in unprocessed {
            if let place = streams.find(stream) { streams.remove(at: place) }
            resets.add(stream, .local)
        }
        return .goAway(lastStream: last, code, debugData: debugData, unprocessed: unprocessed)
    }

    /// Whether no further streams are opened, because of either side's GOAWAY or an error.
    public var isClosing: Bool { isFailed || goAwaySent != nil || goAwayReceived != nil }

    /// Appends a GOAWAY frame that names the last stream received from the peer. Later streams are ignored.
    public mutating func sendGoAway(
        _ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = [], to output: inout [UInt8]
    ) {
        appendGoAway(min(goAwaySent ?? .last, highestPeerStream), code, debugData, to: &output)
    }

    /// Appends the first of two GOAWAY frames that end a connection without a race (§6.8). It requests the peer to open
    /// no more streams; streams that are on their way are still accepted. ``sendGoAway(_:debugData:to:)`` follows one
    /// round trip later, for example after the answer to a PING.
    public mutating func sendShutdownNotice(to output: inout [UInt8]) {
        appendGoAway(goAwaySent ?? .last, .noError, [], to: &output)
    }

    private mutating func appendGoAway(
        _ lastStream: HTTP2StreamID, _ code: HTTP2ErrorCode, _ debugData: [UInt8], to output: inout [UInt8]
    ) {
        drainControlBytes(into: &output)
        if isFailed { return }
        goAwaySent = lastStream
        HTTP2FrameEncoder.goAway(
            lastStream: lastStream, code, debugData: Array(debugData.prefix(1024)), to: &output)
    }

    /// Appends a PING frame. ``HTTP2Event/pingAcknowledged(_:)`` returns the number.
    public mutating func sendPing(_ opaque: UInt64, to output: inout [UInt8]) {
        drainControlBytes(into: &output)
        if isFailed { return }
        unansweredPings += 1
        HTTP2FrameEncoder.ping(opaque, to: &output)
    }

    /// Appends a RST_STREAM frame, after which no frames are sent or received on the stream. Does nothing if the stream
    /// has already ended.
    public mutating func sendReset(
        _ stream: HTTP2StreamID, _ code: HTTP2ErrorCode = .cancel, to output: inout [UInt8]
    ) {
        guard let place = streams.find(stream) else { return }
        flood.expectLateFrames()
        reset(stream, at: place, code)
        drainControlBytes(into: &output)
    }
}
