import Testing

@testable import LoadingKitWebSocket

@Suite struct FrameTests {
    /// RFC 6455 §5.7.
    @Test func theExamplesOfTheRFC() {
        let long = [UInt8](repeating: 0x5a, count: 256)
        let longer = [UInt8](repeating: 0x5a, count: 65536)
        let hello = Array("Hello".utf8)
        let asClient: [([UInt8], [Received])] = [
            ([0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f], [.text("Hello")]),
            ([0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f], [.text("Hello")]),
            ([0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f], [.ping(hello)]),
            ([0x82, 0x7e, 0x01, 0x00] + long, [.binary(long)]),
        ]
        for (bytes, expected) in asClient {
            let events = Feeder().receiveAnyhow(bytes)
            #expect(events == expected)
        }
        let masked: [UInt8] = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
        #expect(Feeder(role: .server).receiveAnyhow(masked) == [.text("Hello")])
        let pong: [UInt8] = [0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
        #expect(Feeder(role: .server).receiveAnyhow(pong) == [.pong(hello)])
        let big = Feeder().receive([[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0] + longer]).events == [.binary(longer)]
        #expect(big)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: [UInt8]
        var role = WebSocketRole.client
        let events: [Received]
        /// The close code that the peer is sent.
        var code: UInt16 = 1002

        var testDescription: String { name }
    }

    static let violations: [Case] = [
        Case(name: "RSV1 without compression", bytes: [0xc1, 0x00], events: [.failed(.reservedBits)]),
        Case(name: "RSV2", bytes: [0xa1, 0x00], events: [.failed(.reservedBits)]),
        Case(name: "RSV3", bytes: [0x91, 0x00], events: [.failed(.reservedBits)]),
        Case(name: "RSV1 on a ping", bytes: [0xc9, 0x00], events: [.failed(.reservedBits)]),
        Case(name: "opcode 3", bytes: [0x83, 0x00], events: [.failed(.unknownOpcode(3))]),
        Case(name: "opcode 7", bytes: [0x87, 0x00], events: [.failed(.unknownOpcode(7))]),
        Case(name: "opcode 11", bytes: [0x8b, 0x00], events: [.failed(.unknownOpcode(11))]),
        Case(name: "opcode 15", bytes: [0x8f, 0x00], events: [.failed(.unknownOpcode(15))]),
        Case(name: "ping in fragments", bytes: [0x09, 0x00], events: [.failed(.controlFrameInFragments)]),
        Case(name: "ping of 126 bytes", bytes: [0x89, 126, 0, 126], events: [.failed(.controlFrameTooLong)]),
        Case(name: "close of 2⁶⁴ bytes", bytes: [0x88, 127], events: [.failed(.controlFrameTooLong)]),
        Case(name: "masked by a server", bytes: frame(.text, "a", isMasked: true), events: [.failed(.masked)]),
        Case(name: "not masked by a client", bytes: frame(.text, "a"), role: .server, events: [.failed(.unmasked)]),
        Case(name: "125 in 16 bits", bytes: [0x82, 126, 0, 125], events: [.failed(.wastefulLength)]),
        Case(
            name: "65,535 in 64 bits", bytes: [0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
            events: [.failed(.wastefulLength)]),
        Case(
            name: "a negative length", bytes: [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],
            events: [.failed(.impossibleLength)]),
        Case(
            name: "the largest length", bytes: [0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            events: [.failed(.messageTooBig(limit: 1 << 20))], code: 1009),
        Case(
            name: "a continuation of nothing", bytes: frame(.continuation, "a"),
            events: [.failed(.continuationOfNothing)]),
        Case(
            name: "a message in a message", bytes: frame(.text, "a", isFinal: false) + frame(.binary, "b"),
            events: [.failed(.messageInMessage)]),
        Case(
            name: "a continuation after the end", bytes: frame(.text, "a") + frame(.continuation, "b"),
            events: [.text("a"), .failed(.continuationOfNothing)]),
        Case(name: "half a close code", bytes: [0x88, 1, 3], events: [.failed(.malformedClose)]),
        Case(name: "close code 999", bytes: [0x88, 2, 3, 0xe7], events: [.failed(.invalidCloseCode(999))]),
        Case(name: "close code 1004", bytes: [0x88, 2, 3, 0xec], events: [.failed(.invalidCloseCode(1004))]),
        Case(name: "close code 1005", bytes: [0x88, 2, 3, 0xed], events: [.failed(.invalidCloseCode(1005))]),
        Case(name: "close code 1006", bytes: [0x88, 2, 3, 0xee], events: [.failed(.invalidCloseCode(1006))]),
        Case(name: "close code 1015", bytes: [0x88, 2, 3, 0xf7], events: [.failed(.invalidCloseCode(1015))]),
        Case(name: "close code 2999", bytes: [0x88, 2, 0x0b, 0xb7], events: [.failed(.invalidCloseCode(2999))]),
        Case(name: "close code 5000", bytes: [0x88, 2, 0x13, 0x88], events: [.failed(.invalidCloseCode(5000))]),
        Case(
            name: "a reason that is no text", bytes: [0x88, 3, 3, 0xe8, 0xff], events: [.failed(.invalidUTF8)],
            code: 1007),
        Case(
            name: "text that is none", bytes: frame(.text, [0x61, 0xff]), events: [.failed(.invalidUTF8)], code: 1007),
        Case(
            name: "text that ends in a character", bytes: frame(.text, [0x61, 0xc3]), events: [.failed(.invalidUTF8)],
            code: 1007),
        Case(
            name: "text that cannot go on, before its end", bytes: frame(.text, [0xed, 0xa0], isFinal: false),
            events: [.failed(.invalidUTF8)], code: 1007),
    ]

    @Test(arguments: violations)
    func violation(_ violation: Case) {
        let feeder = Feeder(role: violation.role)
        #expect(feeder.receiveAnyhow(violation.bytes) == violation.events)
        // The peer is told once, with the code and the words.
        let other = Feeder(role: violation.role == .client ? .server : .client)
        let answer = feeder.receive([violation.bytes + frame(.ping, isMasked: violation.role == .server)]).answers
        let told = other.receive([answer]).events
        guard case .failed(let kind)? = violation.events.last else { return }
        #expect(told == [.close(violation.code, WebSocketError(kind).description)])
    }

    @Test func controlFramesBetweenFragments() {
        let bytes =
            frame(.text, "He", isFinal: false) + frame(.ping, "1") + frame(.continuation, "l", isFinal: false)
            + frame(.pong, "2") + frame(.continuation, "") + frame(.binary, [])
        #expect(Feeder().receiveAnyhow(bytes) == [.ping([0x31]), .pong([0x32]), .text("Hel"), .binary([])])
    }

    @Test func charactersOverFragments() {
        let text = "κόσμε 🙂 ok"
        let parts = Array(text.utf8).map { frame(.continuation, [$0], isFinal: false) }
        let bytes = frame(.text, [], isFinal: false) + parts.flatMap { $0 } + frame(.continuation)
        #expect(Feeder().receiveAnyhow(bytes) == [.text(text)])
    }

    @Test func closeCodesThatMayBeSent() {
        for code: UInt16 in [1000, 1001, 1002, 1003, 1007, 1011, 1014, 3000, 3999, 4000, 4999] {
            let bytes = frame(.close, [UInt8(code >> 8), UInt8(code & 0xff)] + Array("ok".utf8))
            // The bytes behind it are ignored.
            #expect(Feeder().receiveAnyhow(bytes + [0xff, 0xff, 0xff]) == [.close(code, "ok")])
        }
        #expect(Feeder().receiveAnyhow(frame(.close)) == [.close(1005, "")])
    }

    /// RFC 6455 §5.5.2: each, in order, as long as the answers are few that wait.
    @Test func eachPingIsAnswered() {
        for count in [2, 200] {
            let payloads = (0..<count).map { Array("\($0)".utf8) }
            let (events, answers) = Feeder().receive([payloads.flatMap { frame(.ping, $0) }])
            #expect(events == payloads.map(Received.ping))
            #expect(Feeder(role: .server).receive([answers]).events == payloads.map(Received.pong))
        }
    }

    /// §5.5.3: of pings that come faster than the other side reads the answers the newest has one; what waits is bounded.
    @Test func aFloodOfPingsIsNotAnsweredInFull() {
        for role in [WebSocketRole.client, .server] {
            let payloads = (0..<30_000).map { Array("ping number \($0)".utf8) }
            let flood = payloads.flatMap { frame(.ping, $0, isMasked: role == .server) }
            let (events, answers) = Feeder(role: role).receive([flood])
            #expect(events.count == payloads.count)
            #expect(answers.count < 32 * 1024)
            let pongs = Feeder(role: role == .client ? .server : .client).receive([answers]).events
            #expect(pongs.count > 500 && pongs.last == payloads.last.map(Received.pong))
            #expect(pongs.dropLast() == payloads.prefix(pongs.count - 1).map(Received.pong)[...])
            // Once they are read, the next is answered again.
            let pieces = [flood, frame(.ping, "next", isMasked: role == .server)]
            let all = Feeder(role: role).receive(pieces).answers
            let last = Feeder(role: role == .client ? .server : .client).receive([all]).events.last
            #expect(last == .pong(Array("next".utf8)))
        }
    }

    @Test func limits() {
        let limits = WebSocketLimits(messageBytes: 10, emptyFrames: 3)
        let feeder = Feeder(limits: limits)
        let ten = [UInt8](repeating: 1, count: 10)
        #expect(feeder.receiveAnyhow(frame(.binary, ten)) == [.binary(ten)])
        #expect(feeder.receiveAnyhow(frame(.binary, ten + [1])) == [.failed(.messageTooBig(limit: 10))])
        let fragments = frame(.binary, ten, isFinal: false)
        #expect(feeder.receiveAnyhow(fragments + frame(.continuation)) == [.binary(ten)])
        #expect(feeder.receiveAnyhow(fragments + frame(.continuation, [1])) == [.failed(.messageTooBig(limit: 10))])
        // Endless fragments: of one byte they come to the limit, of none to one of their own.
        let empty = frame(.continuation, isFinal: false)
        let flood = frame(.binary, isFinal: false) + empty + empty
        #expect(feeder.receiveAnyhow(flood + frame(.continuation)) == [.binary([])])
        #expect(feeder.receiveAnyhow(flood + empty) == [.failed(.emptyFrameFlood)])
    }

    @Test func headersOfAllLengths() throws {
        for length in [0, 1, 125, 126, 127, 65535, 65536, 1 << 32, Int.max] {
            for mask in [nil, WebSocketMask(1, 2, 3, 4)] {
                let header = WebSocketFrameHeader(.binary, length: length, isFinal: false, mask: mask)
                var bytes: [UInt8] = []
                header.append(to: &bytes)
                for count in 0..<bytes.count {
                    let early = try bytes.prefix(count).withUnsafeBytes { try WebSocketFrameHeader.read($0) }
                    #expect(early == nil)
                }
                let read = try bytes.withUnsafeBytes { try WebSocketFrameHeader.read($0) }
                #expect(read?.0 == header && read?.size == bytes.count)
            }
        }
    }

    @Test func masksOfAllLengthsAndPositions() {
        let key: [UInt8] = [0x12, 0x34, 0x56, 0x78]
        let bytes = (0..<200).map { UInt8($0) }
        let expected = bytes.indices.map { bytes[$0] ^ key[$0 % 4] }
        for first in 0...70 {
            var mask = WebSocketMask(0x12, 0x34, 0x56, 0x78)
            var output: [UInt8] = [9]
            bytes[..<first].withUnsafeBytes { mask.append($0, to: &output) }
            bytes[first...].withUnsafeBytes { mask.append($0, to: &output) }
            #expect(output == [9] + expected)
        }
    }
}
