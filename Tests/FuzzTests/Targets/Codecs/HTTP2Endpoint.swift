import LoadingKitHTTP2

/// One side of a connection, with what it gave and sent.
struct HTTP2Endpoint {
    var machine: HTTP2ConnectionStateMachine
    private(set) var events: [HTTP2Event] = []
    private(set) var bodies: [HTTP2StreamID: [UInt8]] = [:]
    private(set) var failure: HTTP2Error?
    private(set) var output: [UInt8] = []
    /// The bytes of bodies that the program has not consumed.
    private var held: [HTTP2StreamID: Int] = [:]
    /// The streams whose response has no body: the program sends none.
    private var bodiless: Set<HTTP2StreamID> = []

    /// A connection on which the peer's preface and settings have arrived, unless `sendsPreface` is false.
    init(_ role: HTTP2Role, _ choices: UInt8, sendsPreface: Bool = true) {
        var settings = HTTP2Settings()
        if choices & 2 != 0 { settings.initialWindowSize = 20 }
        if choices & 4 != 0 { settings.maxConcurrentStreams = 2 }
        if choices & 8 != 0 { settings.headerTableSize = 100 }
        settings.enableConnectProtocol = choices & 16 != 0
        var limits = HTTP2Limits()
        if choices & 32 != 0 {
            (limits.headerListBytes, limits.fieldCount, limits.interimResponses) = (300, 3, 1)
            (limits.controlCredit, limits.continuationFrames, limits.rememberedResets) = (20, 2, 1)
            limits.settingsPerFrame = 2
        }
        machine = HTTP2ConnectionStateMachine(role: role, settings: settings, limits: limits)
        machine.sendPreface(to: &output)
        guard sendsPreface else { return }
        let preface = role == .server ? Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) : []
        receive([preface + [0, 0, 0, 4, 0, 0, 0, 0, 0], [0, 0, 0, 4, 1, 0, 0, 0, 0]])
        if role == .client { for _ in 0..<3 { request(endStream: choices & 64 != 0) } }
    }

    mutating func receive(_ pieces: [[UInt8]]) {
        for piece in pieces {
            piece.withUnsafeBytes { bytes in
                var position = 0
                do throws(HTTP2Error) {
                    while let event = try machine.receive(bytes, &position) { note(event, bytes) }
                } catch {
                    failure = error
                }
            }
            if failure != nil { break }
        }
        machine.drainControlBytes(into: &output)
    }

    /// Bytes of bodies are joined, because pieces divide them; the end of a stream is an event.
    private mutating func note(_ event: HTTP2Event, _ bytes: UnsafeRawBufferPointer) {
        guard case .data(let stream, let range, let count, let endStream) = event else { return events.append(event) }
        bodies[stream, default: []] += bytes[range]
        held[stream, default: 0] += count
        if endStream { events.append(.data(stream: stream, 0..<0, flowControlled: 0, endStream: true)) }
    }

    mutating func request(endStream: Bool) {
        let head = HTTP2RequestHead(method: "POST", scheme: "https", authority: "a", path: "/")
        _ = try? machine.sendRequest(head, endStream: endStream, to: &output)
    }

    mutating func perform(_ call: HTTP2Call) {
        let stream = call.stream
        switch call.number {
        case 0: request(endStream: call.flag)
        case 1: respond(stream, call.count, call.flag)
        case 2: send(call.count, on: stream, endStream: call.flag)
        case 3: try? machine.sendTrailers(HTTPFields(), on: stream, to: &output)
        case 4: machine.sendReset(stream, to: &output)
        case 5: machine.sendPing(UInt64(call.count), to: &output)
        case 6: consume(stream, call.flag)
        case 7: machine.setReceiveWindow(call.count, of: stream)
        case 8: machine.setConnectionReceiveWindow(call.count)
        case 9: machine.openConnectionWindow(by: call.count)
        case 10: machine.timeDidPass(seconds: call.count)
        case 11: call.flag ? machine.sendGoAway(to: &output) : machine.sendShutdownNotice(to: &output)
        case 12:
            var settings = machine.localSettings
            settings.initialWindowSize = UInt32(truncatingIfNeeded: call.count)
            settings.maxFrameSize = UInt32(truncatingIfNeeded: call.count)
            settings.headerTableSize = UInt32(call.count & 0xff)
            machine.updateSettings(settings, to: &output)
        default: machine.openWindow(of: stream, by: call.count)
        }
        machine.drainControlBytes(into: &output)
    }

    private mutating func respond(_ stream: HTTP2StreamID, _ number: Int, _ endStream: Bool) {
        let status = [200, 103, 304, 404][number & 3]
        guard (try? machine.sendResponse(status, HTTPFields(), on: stream, endStream: endStream, to: &output)) != nil
        else { return }
        if status == 304 { bodiless.insert(stream) }
    }

    mutating func send(_ count: Int, on stream: HTTP2StreamID, endStream: Bool) {
        let count = bodiless.contains(stream) ? 0 : min(count & 0xff, machine.sendableBytes(on: stream))
        do throws(HTTP2Error) {
            try machine.sendDataHeader(count, on: stream, endStream: endStream, to: &output)
        } catch {
            return
        }
        output += [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: count)
    }

    private mutating func consume(_ stream: HTTP2StreamID, _ isAll: Bool) {
        let count = held[stream] ?? 0
        machine.didConsume(isAll ? count : count / 2, on: stream)
        held[stream] = isAll ? 0 : count - count / 2
    }

    mutating func takeOutput() -> [UInt8] {
        machine.drainControlBytes(into: &output)
        defer { output = [] }
        return output
    }

    /// What is true after each input.
    func check() throws {
        try require(machine.openStreamCount == machine.openStreams.count, "the number of streams is wrong")
        if failure != nil { return try checkFrames() }
        let windows = machine.openStreams + [.connection]
        for stream in windows {
            try require(machine.sendWindow(for: stream) <= 0x7fff_ffff, "the window of \(stream) is too large")
            // The peer has read the settings before any window update that followed them, acknowledged or not.
            let pending = stream == .connection ? 0 : pendingWindowChange
            let window = machine.receiveWindow(for: stream) + pending
            try require(window <= 0x7fff_ffff, "the window for \(stream) is too large")
        }
        try require(machine.sendWindow(for: .connection) >= 0, "more was sent than the connection's window allows")
        try checkFrames()
    }

    /// The change of each stream's window by settings that the peer has not acknowledged.
    private var pendingWindowChange: Int {
        Int(machine.localSettings.initialWindowSize) - Int(machine.acknowledgedSettings.initialWindowSize)
    }

    /// All that was sent is whole frames; the last one after an error is GOAWAY.
    private func checkFrames() throws {
        var start = machine.role == .client ? 24 : 0
        var last: UInt8 = 4
        while start + 9 <= output.count {
            last = output[start + 3]
            start += 9 + Int(output[start]) << 16 + Int(output[start + 1]) << 8 + Int(output[start + 2])
        }
        try requireEqual(start, output.count, "the end of the last frame, and of what was sent")
        if failure != nil { try requireEqual(last, 7, "the last frame after an error, and GOAWAY") }
    }
}
