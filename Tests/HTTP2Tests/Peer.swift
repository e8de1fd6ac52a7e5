import LoadingKitHTTP2

/// A state machine with its output, and the events of what it was given, with the bytes of bodies in place of ranges.
struct Peer {
    var machine: HTTP2ConnectionStateMachine
    var output: [UInt8] = []
    var events: [HTTP2Event] = []
    var bodies: [HTTP2StreamID: [UInt8]] = [:]
    var error: HTTP2Error?
    /// Whether bytes are given back to the windows at once.
    var consumes = true

    init(
        _ role: HTTP2Role, settings: HTTP2Settings = HTTP2Settings(), window: Int = 65535,
        limits: HTTP2Limits = HTTP2Limits()
    ) {
        machine = HTTP2ConnectionStateMachine(
            role: role, settings: settings, connectionWindow: window, limits: limits)
        machine.sendPreface(to: &output)
    }

    /// A connection whose settings have been exchanged, with nothing waiting and no events kept.
    static func connected(
        _ role: HTTP2Role, settings: HTTP2Settings = HTTP2Settings(), peerSettings: HTTP2Settings = HTTP2Settings(),
        window: Int = 65535, limits: HTTP2Limits = HTTP2Limits()
    ) -> Peer {
        var peer = Peer(role, settings: settings, window: window, limits: limits)
        var other = Peer(role == .client ? .server : .client, settings: peerSettings)
        Peer.exchange(&peer, &other)
        peer.events = []
        return peer
    }

    /// Carries bytes both ways until there are none.
    static func exchange(_ a: inout Peer, _ b: inout Peer) {
        while true {
            let fromA = a.takeOutput()
            let fromB = b.takeOutput()
            if fromA.isEmpty, fromB.isEmpty { return }
            b.feed(fromA)
            a.feed(fromB)
        }
    }

    /// The bytes that wait to be sent.
    mutating func takeOutput() -> [UInt8] {
        machine.drainControlBytes(into: &output)
        defer { output = [] }
        return output
    }

    /// The frames that wait to be sent.
    mutating func takeFrames() -> [WholeFrame] { FrameReading.frames(takeOutput()) }

    mutating func feed(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { input in
            var position = 0
            do throws(HTTP2Error) {
                while let event = try machine.receive(input, &position) { note(event, input) }
            } catch {
                self.error = error
            }
        }
    }

    private mutating func note(_ event: HTTP2Event, _ input: UnsafeRawBufferPointer) {
        events.append(event)
        guard case .data(let stream, let range, let count, _) = event else { return }
        bodies[stream, default: []].append(contentsOf: input[range])
        if consumes { machine.didConsume(count, on: stream) }
    }

    /// The events since the last call.
    mutating func takeEvents() -> [HTTP2Event] {
        defer { events = [] }
        return events
    }

    /// Sends a whole or partial body as DATA frames, as far as the windows allow; gives how much of it.
    mutating func sendBody(_ body: ArraySlice<UInt8>, on stream: HTTP2StreamID, endStream: Bool) -> Int {
        var sent = 0
        while sent < body.count {
            let count = min(body.count - sent, machine.sendableBytes(on: stream))
            if count == 0 { return sent }
            let isLast = endStream && sent + count == body.count
            do {
                try machine.sendDataHeader(count, on: stream, endStream: isLast, to: &output)
            } catch {
                return sent
            }
            output += body.dropFirst(sent).prefix(count)
            sent += count
        }
        return sent
    }

    /// Sends a request without a body that matters; gives its stream.
    mutating func request(_ method: String = "GET", endStream: Bool = true) throws -> HTTP2StreamID {
        try machine.sendRequest(
            HTTP2RequestHead(method: method, scheme: "https", authority: "a.test", path: "/"), endStream: endStream,
            to: &output)
    }
}
