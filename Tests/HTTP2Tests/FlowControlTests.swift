import LoadingKitHTTP2
import Testing

/// Windows (RFC 9113 §5.2, §6.9), both ways.
@Suite struct FlowControlTests {
    private static func settings(_ pairs: (UInt8, UInt32)...) -> [UInt8] {
        var payload: [UInt8] = []
        for (id, value) in pairs {
            payload += [0, id]
            withUnsafeBytes(of: value.bigEndian) { payload.append(contentsOf: $0) }
        }
        return Bytes.frame(type: 4, stream: 0, payload)
    }

    private static func window(_ stream: UInt32, _ increment: UInt32) -> [UInt8] {
        Bytes.frame(type: 8, stream: stream, withUnsafeBytes(of: increment.bigEndian) { Array($0) })
    }

    private static func data(_ stream: UInt32, _ count: Int, flags: UInt8 = 0) -> [UInt8] {
        Bytes.frame(type: 0, flags: flags, stream: stream, Array(repeating: 0, count: count))
    }

    @Test func sendingStopsAtTheWindows() throws {
        var client = Peer.connected(.client)
        let first = try client.request("POST", endStream: false)
        let second = try client.request("POST", endStream: false)
        let body = Array(repeating: UInt8(1), count: 70000)
        #expect(client.sendBody(body[...], on: first, endStream: true) == 65535)
        #expect(client.machine.sendableBytes(on: first) == 0)
        #expect(client.machine.sendableBytes(on: second) == 0)
        #expect(client.machine.sendWindow(for: second) == 65535)
        #expect(throws: HTTP2Error(.windowTooSmall, .call)) {
            try client.machine.sendDataHeader(1, on: second, endStream: false, to: &client.output)
        }
        try client.machine.sendDataHeader(0, on: second, endStream: true, to: &client.output)
        client.feed(Self.window(1, 10))
        #expect(client.takeEvents() == [.windowOpened(stream: 1)])
        #expect(client.machine.sendableBytes(on: first) == 0, "the connection's window is empty")
        client.feed(Self.window(0, 7))
        #expect(client.takeEvents() == [.windowOpened(stream: 0)])
        #expect(client.machine.sendableBytes(on: first) == 7)
        client.feed(Self.window(0, 100_000))
        #expect(client.takeEvents().isEmpty, "nobody waited")
        #expect(client.machine.sendableBytes(on: first) == 10)
        client.feed(Self.window(1, 100_000))
        #expect(client.machine.sendableBytes(on: first) == 16384)
        client.feed(Self.settings((5, 20000)))
        #expect(client.machine.sendableBytes(on: first) == 20000)
    }

    /// §6.9.2: a window may fall below 0, and has to be filled up first.
    @Test func settingsChangeTheWindowsOfStreams() throws {
        var client = Peer.connected(.client)
        let stream = try client.request("POST", endStream: false)
        #expect(client.sendBody(Array(repeating: 0, count: 60000)[...], on: stream, endStream: false) == 60000)
        client.feed(Self.settings((4, 16384)))
        #expect(client.machine.sendWindow(for: stream) == 65535 - 60000 - (65535 - 16384))
        #expect(client.machine.sendWindow(for: .connection) == 5535, "the connection's does not change")
        #expect(client.machine.sendableBytes(on: stream) == 0)
        client.feed(Self.window(1, 43616))
        #expect(client.machine.sendWindow(for: stream) == 0)
        client.events = []
        client.feed(Self.window(1, 1))
        #expect(client.events == [.windowOpened(stream: 1)])
        #expect(client.machine.sendableBytes(on: stream) == 1)
        client.feed(Self.settings((4, 65535)))
        #expect(client.machine.sendableBytes(on: stream) == 5535)
    }

    @Test func windowsDoNotOverflow() throws {
        let cases: [(String, [UInt8], HTTP2Error, isConnection: Bool)] = [
            ("connection", Self.window(0, 0x7fff_ffff), HTTP2Error(.windowOverflow), true),
            ("stream", Self.window(1, 0x7fff_ffff), HTTP2Error(.windowOverflow, .stream(1)), false),
            (
                "settings", Self.window(1, 0x7fff_ffff - 65535) + Self.settings((4, 65536)),
                HTTP2Error(.windowOverflow), true
            ),
        ]
        for (name, bytes, error, isConnection) in cases {
            var client = Peer.connected(.client)
            _ = try client.request("POST", endStream: false)
            client.feed(bytes)
            #expect(client.error == (isConnection ? error : nil), "\(name)")
            if !isConnection { #expect(client.events == [.streamFailed(stream: 1, error)], "\(name)") }
        }
        var client = Peer.connected(.client)
        _ = try client.request("POST", endStream: false)
        client.feed(Self.window(0, 0x7fff_ffff - 65535) + Self.window(1, 0x7fff_ffff - 65535))
        #expect(client.error == nil)
        #expect(client.machine.sendWindow(for: 1) == 0x7fff_ffff)
    }

    @Test func settingsAreValidated() {
        let cases: [(UInt8, UInt32, HTTP2ErrorCode?)] = [
            (2, 1, .protocolError), (2, 2, .protocolError), (2, 0, nil), (4, 0x8000_0000, .flowControlError),
            (4, 0x7fff_ffff, nil), (4, 0, nil), (5, 16383, .protocolError), (5, 1 << 24, .protocolError),
            (5, 16384, nil), (5, 0xff_ffff, nil), (8, 2, .protocolError), (8, 1, nil), (1, .max, nil), (1, 0, nil),
            (3, 0, nil), (6, 0, nil), (99, 7, nil), (9, 2, .protocolError),
        ]
        for (id, value, code) in cases {
            var client = Peer.connected(.client)
            client.feed(Self.settings((id, value)))
            #expect(client.error?.code == code, "setting \(id) = \(value)")
        }
    }

    /// Both windows are checked for what comes, padding included.
    @Test func whatIsReceivedIsBounded() throws {
        func client(window: Int, stream: UInt32) throws -> Peer {
            var settings = HTTP2Settings()
            settings.initialWindowSize = stream
            var client = Peer.connected(.client, settings: settings, window: window)
            client.consumes = false
            _ = try client.request()
            client.feed(headersFrame(1, responseBlock))
            client.events = []
            return client
        }
        var small = try client(window: 65535, stream: 100)
        small.feed(Self.data(1, 100) + Self.data(1, 1))
        #expect(small.events.last == .streamFailed(stream: 1, HTTP2Error(.windowExceeded, .stream(1))))
        var padded = try client(window: 65535, stream: 100)
        padded.feed(Bytes.frame(type: 0, flags: 8, stream: 1, [100] + Array(repeating: 0, count: 100)))
        #expect(padded.events == [.streamFailed(stream: 1, HTTP2Error(.windowExceeded, .stream(1)))])
        var large = try client(window: 65535, stream: 1 << 20)
        for _ in 0..<3 { large.feed(Self.data(1, 16384)) }
        large.feed(Self.data(1, 16383))
        #expect(large.error == nil)
        large.feed(Self.data(1, 1))
        #expect(large.error == HTTP2Error(.windowExceeded))
        #expect(large.takeFrames().last == .other(.goAway(lastStream: 0, .flowControlError, debugData: [])))
    }

    /// §6.9.1: a frame that has no bytes needs no window, also where SETTINGS have put it below 0 (§6.9.2).
    @Test(arguments: [(0, 1, true), (0, 0, true), (1, 1, false)] as [(Int, UInt8, Bool)])
    func anEmptyFrameNeedsNoWindow(_ count: Int, _ flags: UInt8, _ isAllowed: Bool) throws {
        var settings = HTTP2Settings()
        settings.initialWindowSize = 30000
        var client = Peer.connected(.client, settings: settings)
        client.consumes = false
        _ = try client.request()
        client.feed(headersFrame(1, responseBlock) + Self.data(1, 16384))
        settings.initialWindowSize = 1000
        client.machine.updateSettings(settings, to: &client.output)
        client.feed(Bytes.frame(type: 4, flags: 1, stream: 0, []))
        client.events = []
        client.feed(Self.data(1, count, flags: flags))
        let failure = HTTP2Event.streamFailed(stream: 1, HTTP2Error(.windowExceeded, .stream(1)))
        #expect(client.error == nil && (client.events.first == failure) == !isAllowed)
        #expect(client.events.contains(.streamClosed(stream: 1)) == (isAllowed && flags == 1))
    }

    /// The window is given back in halves, and not before it was consumed.
    @Test func consumptionOpensWindows() throws {
        var settings = HTTP2Settings()
        settings.initialWindowSize = 30000
        var client = Peer.connected(.client, settings: settings)
        client.consumes = false
        _ = try client.request()
        client.feed(headersFrame(1, responseBlock))
        _ = client.takeOutput()
        client.feed(Self.data(1, 14999) + Self.data(1, 15001))
        #expect(client.takeFrames().isEmpty)
        client.machine.didConsume(14999, on: 1)
        #expect(client.takeFrames().isEmpty)
        client.machine.didConsume(1, on: 1)
        #expect(client.takeFrames() == [.other(.windowUpdate(stream: 1, increment: 15000))])
        client.machine.didConsume(15000, on: 1)
        client.machine.didConsume(1_000_000, on: 1)
        #expect(client.takeFrames() == [.other(.windowUpdate(stream: 1, increment: 15000))])
        client.feed(Self.data(1, 4000) + Self.data(1, 0, flags: 1))
        client.machine.didConsume(4000, on: 1)
        #expect(
            client.takeFrames() == [.other(.windowUpdate(stream: .connection, increment: 34000))],
            "a stream that has ended needs no window")
    }

    /// A client with a window of 30,000 bytes for stream 1, which has received 20,000, and consumed none.
    private static func midBody(_ length: Int?) throws -> Peer {
        var settings = HTTP2Settings()
        settings.initialWindowSize = 30000
        var client = Peer.connected(.client, settings: settings)
        client.consumes = false
        _ = try client.request()
        let fields = length.map { [("content-length", "\($0)")] } ?? []
        client.feed(headersFrame(1, block([(":status", "200")] + fields)) + data(1, 10000) + data(1, 10000))
        _ = client.takeOutput()
        client.events = []
        return client
    }

    /// The rest of a body that fits the window, beside the padding of a frame, needs no update: the server may have
    /// written it, and closed the connection.
    @Test(arguments: [(nil, true), (20001, false), (29744, false), (29745, true), (Int.max, true)] as [(Int?, Bool)])
    func theRestOfABodyNeedsNoUpdate(_ length: Int?, _ isUpdated: Bool) throws {
        var client = try Self.midBody(length)
        client.machine.didConsume(20000, on: 1)
        let update = WholeFrame.other(.windowUpdate(stream: 1, increment: 20000))
        #expect(client.takeFrames() == (isUpdated ? [update] : []))
        if isUpdated { return }
        client.machine.setReceiveWindow(1 << 20, of: 1)
        #expect(client.takeFrames().isEmpty)
        #expect(!client.machine.mayNeedWindow(on: 1))
        // More than the body is an error as ever.
        client.feed(Self.data(1, 10000))
        #expect(client.events == [.streamFailed(stream: 1, HTTP2Error(.contentLengthMismatch, .stream(1)))])
    }

    /// Padding uses the window, too: a server that pads does not wait without end.
    @Test func paddingOpensTheWindowAgain() throws {
        func padded(_ count: Int, flags: UInt8) -> [UInt8] {
            Bytes.frame(type: 0, flags: flags, stream: 1, [255] + Array(repeating: 0, count: count + 255))
        }
        var whole = try Self.midBody(29744)
        whole.machine.didConsume(20000, on: 1)
        whole.feed(padded(9744, flags: 9))
        #expect(whole.error == nil && whole.events.last == .streamClosed(stream: 1))
        var divided = try Self.midBody(29744)
        divided.machine.didConsume(20000, on: 1)
        divided.feed(padded(1, flags: 8))
        #expect(divided.takeFrames().isEmpty)
        divided.machine.didConsume(257, on: 1)
        #expect(divided.takeFrames() == [.other(.windowUpdate(stream: 1, increment: 20257))])
    }

    /// After GOAWAY the connection's window is for the streams that are open. 33,000 bytes of the first have arrived.
    @Test(
        arguments: [
            (50000, 0, true, false), (50000, 15023, true, false), (50000, 15024, true, true), (50000, nil, true, true),
            (nil, 0, true, true), (65279, 0, true, true), (50000, 0, false, true),
        ] as [(Int?, Int?, Bool, Bool)])
    func theConnectionsWindowAfterGoAway(_ first: Int?, _ second: Int?, _ isLeaving: Bool, _ isUpdated: Bool) throws {
        var client = Peer.connected(.client)
        client.consumes = false
        for (stream, length) in [(1, first), (3, second)] as [(UInt32, Int?)] {
            _ = try client.request()
            let fields = length.map { [("content-length", "\($0)")] } ?? []
            client.feed(headersFrame(stream, block([(":status", "200")] + fields)))
        }
        if isLeaving { client.feed(Bytes.frame(type: 7, stream: 0, [0, 0, 0, 3, 0, 0, 0, 0])) }
        for count in [16384, 16384, 232] { client.feed(Self.data(1, count)) }
        _ = client.takeOutput()
        client.machine.openConnectionWindow(by: 33000)
        let update = WholeFrame.other(.windowUpdate(stream: .connection, increment: 33000))
        #expect(client.takeFrames() == (isUpdated ? [update] : []))
    }

    /// Bytes for a stream that was reset still count for the connection's window, and are returned to it.
    @Test func dataOnResetStreamsIsGivenBack() throws {
        var client = Peer.connected(.client)
        _ = try client.request()
        client.feed(headersFrame(1, responseBlock))
        client.machine.sendReset(1, to: &client.output)
        _ = client.takeOutput()
        client.feed(Self.data(1, 16384) + Self.data(1, 16384))
        #expect(client.error == nil)
        #expect(client.takeFrames() == [.other(.windowUpdate(stream: .connection, increment: 32768))])
    }

    @Test func receiveWindowsAreAdjustable() throws {
        var client = Peer.connected(.client)
        _ = try client.request()
        _ = client.takeOutput()
        client.machine.setReceiveWindow(200_000, of: 1)
        client.machine.setConnectionReceiveWindow(1 << 20)
        client.machine.setReceiveWindow(10, of: 1)
        client.machine.setReceiveWindow(200_000, of: 99)
        #expect(
            client.takeFrames() == [
                .other(.windowUpdate(stream: 1, increment: 134_465)),
                .other(.windowUpdate(stream: .connection, increment: 983_041)),
            ])
        // A smaller window comes about as bytes are consumed.
        client.feed(headersFrame(1, responseBlock))
        for _ in 0..<12 { client.feed(Self.data(1, 16384)) }
        client.feed(Self.data(1, 200_000 - 12 * 16384))
        #expect(client.error == nil)
        let frames = client.takeFrames()
        #expect(frames.contains(.other(.windowUpdate(stream: 1, increment: 10))), "\(frames)")
    }

    /// A larger initial window counts for streams that are open as soon as the peer has taken it over.
    @Test func initialWindowFollowsTheAcknowledgement() throws {
        var client = Peer.connected(.client)
        client.consumes = false
        _ = try client.request()
        client.feed(headersFrame(1, responseBlock))
        var settings = client.machine.localSettings
        settings.initialWindowSize = 100_000
        client.machine.setConnectionReceiveWindow(1 << 20)
        client.machine.updateSettings(settings, to: &client.output)
        let frames = client.takeFrames()
        #expect(frames.contains(.other(.settings([HTTP2Setting(.initialWindowSize, 100_000)]))))
        client.feed(Bytes.frame(type: 4, flags: 1, stream: 0, []))
        #expect(client.events.last == .settingsAcknowledged)
        for _ in 0..<6 { client.feed(Self.data(1, 16384)) }
        client.feed(Self.data(1, 100_000 - 6 * 16384))
        #expect(client.error == nil)
        client.feed(Self.data(1, 1))
        #expect(client.events.last == .streamFailed(stream: 1, HTTP2Error(.windowExceeded, .stream(1))))
    }

    /// Settings do not enlarge a window that is the largest already, which the peer would take for an error.
    @Test(arguments: [0, 1000] as [UInt32]) func settingsDoNotOverflowWindows(_ first: UInt32) throws {
        var client = Peer.connected(.client)
        var server = Peer.connected(.server)
        let stream = try client.request("POST", endStream: false)
        client.machine.setReceiveWindow(.max, of: stream)
        for size in [first, 1 << 20, 0x7fff_ffff] {
            var settings = client.machine.localSettings
            settings.initialWindowSize = size
            client.machine.updateSettings(settings, to: &client.output)
        }
        Peer.exchange(&client, &server)
        #expect(server.error == nil && client.error == nil)
        #expect(server.machine.sendWindow(for: stream) == 0x7fff_ffff)
    }

    /// A window update behind smaller settings counts from those, acknowledged or not: it fills the window, and no more.
    @Test(arguments: [0, 20, 1000] as [UInt32]) func windowsGrowBehindSmallerSettings(_ size: UInt32) throws {
        var client = Peer.connected(.client)
        var server = Peer.connected(.server)
        let stream = try client.request("POST", endStream: false)
        var settings = client.machine.localSettings
        settings.initialWindowSize = size
        client.machine.updateSettings(settings, to: &client.output)
        client.machine.setReceiveWindow(.max, of: stream)
        // The server's acknowledgement is on its way.
        server.feed(client.takeOutput())
        #expect(server.error == nil && server.machine.sendWindow(for: stream) == 0x7fff_ffff)
        #expect(client.machine.receiveWindow(for: stream) == 0x7fff_ffff + 65535 - Int(size))
        Peer.exchange(&client, &server)
        #expect(client.error == nil && client.machine.receiveWindow(for: stream) == 0x7fff_ffff)
    }

    /// A smaller setting may put a window below 0 whose bytes are all consumed. No later call would open it.
    @Test func smallerSettingsLeaveAWindow() throws {
        var settings = HTTP2Settings()
        settings.initialWindowSize = 30000
        var client = Peer.connected(.client, settings: settings)
        _ = try client.request()
        client.feed(headersFrame(1, responseBlock) + Self.data(1, 14999))
        _ = client.takeOutput()
        settings = client.machine.localSettings
        settings.initialWindowSize = 1000
        client.machine.updateSettings(settings, to: &client.output)
        #expect(
            client.takeFrames() == [
                .other(.settings([HTTP2Setting(.initialWindowSize, 1000)])),
                .other(.windowUpdate(stream: 1, increment: 14999)),
            ])
        client.feed(Bytes.frame(type: 4, flags: 1, stream: 0, []))
        #expect(client.machine.receiveWindow(for: 1) == 1000)
    }

    /// Bytes that were on their way to a stream that this side has reset are not a flood, however many there are.
    @Test func lateDataIsNoFlood() throws {
        var client = Peer.connected(.client)
        _ = try client.request()
        client.feed(headersFrame(1, responseBlock))
        client.machine.sendReset(1, to: &client.output)
        for _ in 0..<5000 { client.feed(Self.data(1, 1)) }
        #expect(client.error == nil)
        for _ in 0..<1100 { client.feed(Self.data(1, 0)) }
        #expect(client.error?.kind == .controlFlood, "empty frames are")
    }

    /// Answers that were on their way when this side reset their streams are no flood either (§5.1): a program may
    /// cancel hundreds of requests at once.
    @Test func answersThatCrossResetsAreNoFlood() throws {
        var client = Peer.connected(.client)
        var streams: [HTTP2StreamID] = []
        for _ in 0..<600 { streams.append(try client.request()) }
        for stream in streams { client.machine.sendReset(stream, to: &client.output) }
        for stream in streams.map(\.rawValue) {
            let reset = Bytes.frame(type: 3, stream: stream, [0, 0, 0, 0])
            client.feed(headersFrame(stream, responseBlock) + Self.data(stream, 0, flags: 1) + reset)
        }
        #expect(client.error == nil && client.events.isEmpty)
        for _ in 0..<1700 { client.feed(Self.data(1, 0)) }
        #expect(client.error?.kind == .controlFlood, "further ones are")
    }

    /// Nor are window updates for uploads that this side has cancelled, or that were answered before their end.
    @Test(arguments: [false, true]) func windowUpdatesThatCrossResetsAreNoFlood(isAnswered: Bool) throws {
        var client = Peer.connected(.client)
        var streams: [HTTP2StreamID] = []
        for _ in 0..<600 { streams.append(try client.request("POST", endStream: false)) }
        for stream in streams {
            if isAnswered { client.feed(headersFrame(stream.rawValue, endStream: true, responseBlock)) }
            client.machine.sendReset(stream, to: &client.output)
        }
        client.events = []
        for stream in streams.map(\.rawValue) {
            for _ in 0..<4 { client.feed(Self.window(stream, 1)) }
        }
        #expect(client.error == nil && client.events.isEmpty)
        for _ in 0..<1100 { client.feed(Self.window(1, 1)) }
        #expect(client.error?.kind == .controlFlood, "further ones are")
    }

    /// Answers to this side's own PINGs are no flood; others are.
    @Test func answersToPINGsAreNoFlood() {
        var client = Peer.connected(.client)
        let answer = Bytes.frame(type: 6, flags: 1, stream: 0, [UInt8](repeating: 0, count: 8))
        for _ in 0..<5000 {
            client.machine.sendPing(0, to: &client.output)
            client.feed(answer)
        }
        #expect(client.error == nil)
        for _ in 0..<1100 { client.feed(answer) }
        #expect(client.error?.kind == .controlFlood)
    }
}
