import Testing

@testable import LoadingKitWebSocket

@Suite struct DeflateTests {
    private static let hello = Array("Hello".utf8)

    /// RFC 7692 §7.2.3.
    @Test func theExamplesOfTheRFC() {
        let cases: [(String, [UInt8], [Received])] = [
            ("one block", [0xc1, 0x07, 0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00], [.text("Hello")]),
            (
                "two fragments",
                [0x41, 0x03, 0xf2, 0x48, 0xcd, 0x80, 0x04, 0xc9, 0xc9, 0x07, 0x00], [.text("Hello")]
            ),
            (
                "context takeover",
                [0xc1, 0x07, 0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0xc1, 0x05, 0xf2, 0x00, 0x11, 0x00, 0x00],
                [.text("Hello"), .text("Hello")]
            ),
            (
                "no compression",
                [0xc1, 0x0b, 0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00], [.text("Hello")]
            ),
            ("a last block", [0xc1, 0x08, 0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00], [.text("Hello")]),
            (
                "two blocks",
                [0xc1, 0x0d, 0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00],
                [.text("Hello")]
            ),
            ("not compressed", frame(.text, "Hello"), [.text("Hello")]),
            ("an empty one", [0xc1, 0x01, 0x00], [.text("")]),
        ]
        for (name, bytes, expected) in cases {
            #expect(Feeder(deflate: PermessageDeflate()).receiveAnyhow(bytes) == expected, "\(name)")
        }
    }

    @Test func whatIsCorrupt() {
        let cases: [(String, [UInt8])] = [
            ("no block of any kind", frame(.text, [0x07, 0xff], isCompressed: true)),
            ("a distance before the beginning", frame(.text, [0xf2, 0x00, 0x11, 0x00, 0x00], isCompressed: true)),
            ("text that is none", frame(.text, [0x00, 0x01, 0x00, 0xfe, 0xff, 0xff, 0x00], isCompressed: true)),
        ]
        for (name, bytes) in cases {
            let events = Feeder(deflate: PermessageDeflate()).receiveAnyhow(bytes) ?? []
            guard case .failed(let kind)? = events.first else {
                Issue.record("\(name) \(events)")
                continue
            }
            #expect(WebSocketError(kind).closeCode == .invalidFramePayloadData, "\(name)")
        }
        // RSV1 is for a message's first frame.
        let second = frame(.text, [], isFinal: false) + frame(.continuation, [], isCompressed: true)
        #expect(Feeder(deflate: PermessageDeflate()).receiveAnyhow(second) == [.failed(.reservedBits)])
    }

    /// Messages that nobody gets are neither decompressed nor checked. Their lengths, and control frames, are.
    @Test func messagesThatAreDropped() {
        let end = Received.close(1000, "")
        let cases: [(String, [UInt8], [Received])] = [
            ("a text", frame(.text, "Hello"), [end]),
            ("no block of any kind", frame(.text, [0x07, 0xff], isCompressed: true), [end]),
            ("text that is none", frame(.text, [0xff]), [end]),
            (
                "fragments around a ping",
                frame(.text, [0x07], isFinal: false, isCompressed: true) + frame(.ping, [5])
                    + frame(.continuation, [0xff]),
                [.ping([5]), end]
            ),
            (
                "too long", [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0],
                [.failed(.messageTooBig(limit: WebSocketLimits().messageBytes))]
            ),
            ("a continuation of nothing", frame(.continuation), [.failed(.continuationOfNothing)]),
        ]
        for (name, bytes, expected) in cases {
            let events = Feeder(deflate: PermessageDeflate(), dropsMessages: true)
                .receiveAnyhow(bytes + frame(.close, [0x03, 0xe8]))
            #expect(events == expected, "\(name)")
        }
    }

    @Test func allSettingsBothWays() throws {
        let messages = (0..<30).map { number in
            Array(String(repeating: "message \(number % 3) and what it says; ", count: 20 + number * 7).utf8)
        }
        for takesContextOver in [true, false] {
            for bits in 8...15 {
                var settings = PermessageDeflate()
                settings.client = .init(takesContextOver: takesContextOver, windowBits: bits)
                settings.server = .init(takesContextOver: takesContextOver, windowBits: max(9, bits))
                for (role, other) in [(WebSocketRole.client, WebSocketRole.server), (.server, .client)] {
                    var codec = WebSocketStateMachine(role: role, deflate: settings)
                    var output: [UInt8] = []
                    for message in messages { try message.withUnsafeBytes { try codec.send(.binary, $0, to: &output) } }
                    let events = Feeder(role: other, deflate: settings).receive([output]).events
                    let isRight = events == messages.map(Received.binary)
                    #expect(isRight, "\(takesContextOver) \(bits) \(role)")
                    // zlib makes no window of 2⁸ bytes: then messages are sent as they are.
                    let isSmaller = output.count < messages.map(\.count).reduce(0, +) / 2
                    #expect(isSmaller == (role == .server || bits > 8), "\(takesContextOver) \(bits) \(role)")
                }
            }
        }
    }

    /// A message that cannot be compressed is sent uncompressed, and later messages do not refer to it.
    @Test func whatSavesNothingIsNotCompressed() throws {
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<300_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let text = Array(String(repeating: "text ", count: 1000).utf8)
        let messages = [text, noise, text, Array(noise.prefix(1000)), Self.hello, text]
        var codec = WebSocketStateMachine(role: .server, deflate: PermessageDeflate())
        var output: [UInt8] = []
        for message in messages { try message.withUnsafeBytes { try codec.send(.binary, $0, to: &output) } }
        let events = Feeder(deflate: PermessageDeflate()).receive([output]).events
        let isRight = events == messages.map(Received.binary)
        #expect(isRight)
        #expect(output.count < noise.count + 1000 + 1000)
    }

    /// A shorter one is sent as it is, though it can be compressed.
    @Test(arguments: [(255, 0x82), (256, 0xc2)] as [(Int, UInt8)])
    func theShortestMessageThatIsCompressed(_ count: Int, _ start: UInt8) throws {
        var codec = WebSocketStateMachine(role: .server, deflate: PermessageDeflate())
        var output: [UInt8] = []
        try [UInt8](repeating: 0x61, count: count).withUnsafeBytes { try codec.send(.binary, $0, to: &output) }
        // FIN and the opcode, with RSV1 for a compressed message (RFC 7692 §6).
        let isCompressed = start & 0x40 != 0
        #expect(output.first == start)
        #expect(codec.compresses(count) == isCompressed)
    }

    /// Some of them fill the room for a piece of output with the last byte of the input.
    @Test func eachLengthIsDecompressed() throws {
        for count in [50...700, 16_100...17_300, 32_500...33_100].joined() {
            let message = [UInt8](repeating: 0x61, count: count)
            var codec = WebSocketStateMachine(role: .server, deflate: PermessageDeflate())
            var output: [UInt8] = []
            try message.withUnsafeBytes { try codec.send(.binary, $0, to: &output) }
            let isRight = Feeder(deflate: PermessageDeflate()).receive([output]).events == [.binary(message)]
            #expect(isRight, "\(count)")
        }
    }

    @Test func bombsAreBounded() throws {
        var codec = WebSocketStateMachine(role: .server, deflate: PermessageDeflate())
        var bomb: [UInt8] = []
        try [UInt8](repeating: 0, count: 32 << 20).withUnsafeBytes { try codec.send(.binary, $0, to: &bomb) }
        #expect(bomb.count < 1 << 18)
        let feeder = Feeder(deflate: PermessageDeflate(), limits: WebSocketLimits(messageBytes: 100_000))
        #expect(feeder.receive([bomb]).events == [.failed(.messageTooBig(limit: 100_000))])
        // Blocks that hold nothing, for ever.
        let nothing = frame(
            .continuation, [UInt8](repeating: 0, count: 0) + [0x00, 0x00, 0x00, 0xff, 0xff], isFinal: false)
        let small = Feeder(deflate: PermessageDeflate(), limits: WebSocketLimits(messageBytes: 10))
        let start = frame(.binary, [], isFinal: false, isCompressed: true)
        let events = small.receive([start] + Array(repeating: nothing, count: 300)).events
        #expect(events == [.failed(.messageTooBig(limit: 10))])
    }

    /// The memory for a message is in proportion to its size: each of 5,000 messages once took 16 KiB.
    @Test func shortMessagesTakeLittleMemory() throws {
        let payload: [UInt8] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]
        let bytes = (0..<5_000).flatMap { _ in frame(.binary, payload, isCompressed: true) }
        for takesContextOver in [true, false] {
            var settings = PermessageDeflate()
            settings.server = .init(takesContextOver: takesContextOver, windowBits: 15)
            var codec = WebSocketStateMachine(role: .client, deflate: settings)
            var messages: [WebSocketPayload] = []
            try bytes.withUnsafeBytes { bytes in
                var position = 0
                while case .binary(let message)? = try codec.receive(bytes, &position) { messages.append(message) }
            }
            #expect(messages.count == 5_000)
            let isRight = messages.allSatisfy { $0.withUnsafeBytes { Array($0) } == Self.hello }
            #expect(isRight)
            #expect(messages.reduce(0) { $0 + $1.capacity } <= 5_000 * 512)
        }
    }

    /// Up to the limit text is judged; what is beyond it, however much of it has been decompressed, makes it too long.
    @Test func textBeyondTheLimitIsTooLong() throws {
        func letters(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }
        let tooLong = Received.failed(.messageTooBig(limit: 100))
        let noText = Received.failed(.invalidUTF8)
        let cases: [(String, [UInt8], Received)] = [
            ("far beyond", letters(20_000) + [0xff] + letters(20_000), tooLong),
            ("the first beyond", letters(100) + [0xff] + letters(300), tooLong),
            ("the next", letters(101) + [0xff] + letters(300), tooLong),
            ("a character that the limit divides", letters(99) + [0xc3, 0xa9] + letters(300), tooLong),
            ("one that is none", letters(99) + [0xc3] + letters(300), tooLong),
            ("the last before", letters(99) + [0xff] + letters(300), noText),
            ("the first", [0xff] + letters(20_000), noText),
            ("a character that the message divides", letters(99) + [0xc3], noText),
            ("good text", letters(40_000), tooLong),
        ]
        for (name, text, expected) in cases {
            var bytes: [UInt8] = []
            if text.count < MessageDeflater.shortestMessage {
                // As one block that is stored.
                let count = UInt8(text.count)
                bytes = frame(.text, [0, count, 0, ~count, 0xff] + text + [0], isCompressed: true)
            } else {
                var codec = WebSocketStateMachine(role: .server, deflate: PermessageDeflate())
                try text.withUnsafeBytes { try codec.send(.text, $0, to: &bytes) }
            }
            let feeder = Feeder(deflate: PermessageDeflate(), limits: WebSocketLimits(messageBytes: 100))
            #expect(feeder.receiveAnyhow(bytes) == [expected], "\(name)")
        }
    }

    @Test func negotiationAsAClient() {
        func read(_ values: String...) -> Result<PermessageDeflate?, WebSocketError> {
            Result { () throws(WebSocketError) in try PermessageDeflate(response: values) }
        }
        #expect(read() == .success(nil))
        #expect(read("permessage-deflate") == .success(PermessageDeflate()))
        var other = PermessageDeflate()
        other.client = .init(takesContextOver: false, windowBits: 10)
        other.server = .init(takesContextOver: false, windowBits: 8)
        let all =
            "Permessage-Deflate ; server_no_context_takeover; client_no_context_takeover;server_max_window_bits=8; client_max_window_bits=\"10\""
        #expect(read(all) == .success(other))
        #expect(
            read("x-webkit-deflate-frame") == .failure(WebSocketError(.unofferedExtension("x-webkit-deflate-frame"))))
        let malformed = [
            "permessage-deflate; client_max_window_bits", "permessage-deflate; server_max_window_bits",
            "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits=16",
            "permessage-deflate; server_max_window_bits=010", "permessage-deflate; server_max_window_bits=+10",
            "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; unknown",
            "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
            "permessage-deflate, permessage-deflate", "permessage-deflate;", "permessage-deflate; =1",
            "permessage-deflate; client_max_window_bits=\"10", "a b",
        ]
        for value in malformed {
            guard case .failure(let error) = read(value), case .malformedExtension = error.kind else {
                Issue.record("\(value)")
                continue
            }
        }
    }

    @Test func negotiationAsAServer() {
        let cases: [(String, String?)] = [
            ("permessage-deflate", "permessage-deflate"),
            ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
            (
                "other, permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=10",
                "permessage-deflate; server_max_window_bits=10"
            ),
            (
                "permessage-deflate; client_no_context_takeover; server_no_context_takeover; client_max_window_bits=9",
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover; client_max_window_bits=9"
            ),
            ("other", nil), ("permessage-deflate; nonsense", nil), ("\u{1}", nil),
        ]
        for (offer, answer) in cases {
            #expect(PermessageDeflate(offers: [offer])?.fieldValue == answer, "\(offer)")
        }
    }
}

extension PermessageDeflate.Direction {
    fileprivate init(takesContextOver: Bool, windowBits: Int) {
        self.init()
        self.takesContextOver = takesContextOver
        self.windowBits = windowBits
    }
}
