import Testing

@testable import LoadingKitWebSocket

@Suite struct StateTests {
    private enum Start: CaseIterable {
        case open, closing, closed, failed
    }

    /// A codec in a state, with nothing that waits to be sent.
    private static func codec(_ start: Start, _ role: WebSocketRole = .client) -> WebSocketStateMachine {
        var codec = WebSocketStateMachine(role: role)
        var output: [UInt8] = []
        switch start {
        case .open: break
        case .closing: try? codec.sendClose(.normalClosure, to: &output)
        case .closed: _ = receive(frame(.close, [3, 0xe8], isMasked: role == .server), &codec)
        case .failed: _ = receive([0xff, 0xff], &codec)
        }
        codec.drainControlBytes(into: &output)
        return codec
    }

    private static func receive(_ bytes: [UInt8], _ codec: inout WebSocketStateMachine) -> [Received] {
        var events: [Received] = []
        var position = 0
        bytes.withUnsafeBytes { bytes in
            do throws(WebSocketError) {
                while let event = try codec.receive(bytes, &position) { events.append(Received(event)) }
            } catch {
                events.append(.failed(error.kind))
            }
        }
        return events
    }

    private static func kind(_ body: () throws -> Void) -> WebSocketError.Kind? {
        do {
            try body()
            return nil
        } catch {
            return (error as? WebSocketError)?.kind
        }
    }

    @Test func receivingInEveryState() {
        let message = frame(.text, "a")
        let close = frame(.close, [3, 0xe8])
        let violation: [UInt8] = [0x83, 0]
        let expected: [(Start, [Received], [Received], [Received])] = [
            (.open, [.text("a")], [.close(1000, "")], [.failed(.unknownOpcode(3))]),
            (.closing, [.text("a")], [.close(1000, "")], [.failed(.unknownOpcode(3))]),
            (.closed, [], [], []),
            (.failed, [.failed(.reservedBits)], [.failed(.reservedBits)], [.failed(.reservedBits)]),
        ]
        for (start, afterMessage, afterClose, afterViolation) in expected {
            for (bytes, events) in [(message, afterMessage), (close, afterClose), (violation, afterViolation)] {
                var codec = Self.codec(start)
                #expect(Self.receive(bytes, &codec) == events, "\(start)")
            }
        }
    }

    @Test func answersInEveryState() {
        for start in Start.allCases {
            var codec = Self.codec(start)
            _ = Self.receive(frame(.close, [3, 0xe8]), &codec)
            // Only who has not yet sent a close frame answers one.
            #expect(codec.hasControlBytes == (start == .open), "\(start)")
            #expect(codec.isOver && !codec.isOpen)
            var pinged = Self.codec(start)
            _ = Self.receive(frame(.ping, "a"), &pinged)
            var output: [UInt8] = []
            pinged.drainControlBytes(into: &output)
            #expect(output.isEmpty == (start != .open), "\(start)")
        }
    }

    @Test func sendingInEveryState() {
        for start in Start.allCases {
            let expected: WebSocketError.Kind? = start == .open ? nil : start == .failed ? .reservedBits : .closing
            var output: [UInt8] = []
            var codec = Self.codec(start)
            #expect(Self.kind { try [1].withUnsafeBytes { try codec.send(.binary, $0, to: &output) } } == expected)
            codec = Self.codec(start)
            #expect(Self.kind { _ = try codec.sendHeader(.text, count: 3, to: &output) } == expected)
            codec = Self.codec(start)
            #expect(Self.kind { try codec.sendPing([1], to: &output) } == expected)
            codec = Self.codec(start)
            #expect(Self.kind { try codec.sendClose(.goingAway, to: &output) } == expected)
            #expect(output.isEmpty == (start != .open), "\(start)")
        }
    }

    @Test func theEndInEveryState() {
        let expected: [(Start, WebSocketError.Kind?)] = [
            (.open, .closedEarly), (.closing, .closedEarly), (.closed, nil), (.failed, .reservedBits),
        ]
        for (start, kind) in expected {
            var codec = Self.codec(start)
            #expect(Self.kind { try codec.finish() } == kind, "\(start)")
        }
    }

    @Test func bothRolesUnderstandEachOther() throws {
        for (sender, receiver) in [(WebSocketRole.client, WebSocketRole.server), (.server, .client)] {
            var codec = WebSocketStateMachine(role: sender)
            var output: [UInt8] = []
            let long = (0..<70000).map { UInt8(truncatingIfNeeded: $0) }
            try Array("text".utf8).withUnsafeBytes { try codec.send(.text, $0, to: &output) }
            try long.withUnsafeBytes { try codec.send(.binary, $0, to: &output) }
            try codec.sendPing([1, 2], to: &output)
            let mask = try codec.sendHeader(.binary, count: 3, to: &output)
            if var mask {
                [7 as UInt8, 8, 9].withUnsafeBytes { mask.append($0, to: &output) }
            } else {
                output += [7, 8, 9]
            }
            try codec.sendClose(WebSocketCloseCode(rawValue: 4000), reason: "enough", to: &output)
            let events = Feeder(role: receiver).receive([output]).events
            let isRight =
                events == [.text("text"), .binary(long), .ping([1, 2]), .binary([7, 8, 9]), .close(4000, "enough")]
            #expect(isRight)
        }
    }

    @Test func keysDiffer() throws {
        var codec = WebSocketStateMachine(role: .client)
        var keys: Set<[UInt8]> = []
        for _ in 0..<200 {
            var output: [UInt8] = []
            try codec.sendPing(to: &output)
            keys.insert(Array(output[2...]))
        }
        #expect(keys.count == 200)
    }

    @Test func closeFramesAreWithinTheRules() throws {
        let cases: [(UInt16, String, Received)] = [
            (1000, "", .close(1000, "")),
            (1005, "lost", .close(1005, "")),
            (0, "lost", .close(1005, "")),
            (3500, String(repeating: "é", count: 100), .close(3500, String(repeating: "é", count: 61))),
            // Nothing that follows a character without room is sent.
            (3500, String(repeating: "a", count: 122) + "€b", .close(3500, String(repeating: "a", count: 122))),
        ]
        for (code, reason, expected) in cases {
            var codec = WebSocketStateMachine(role: .server)
            var output: [UInt8] = []
            try codec.sendClose(WebSocketCloseCode(rawValue: code), reason: reason, to: &output)
            #expect(Feeder().receiveAnyhow(output) == [expected])
        }
        var codec = WebSocketStateMachine(role: .server)
        var output: [UInt8] = []
        #expect(
            Self.kind { try codec.sendPing([UInt8](repeating: 0, count: 126), to: &output) } == .controlPayloadTooLong)
        #expect(output.isEmpty)
    }

    @Test func randomBytesAreTakenOrRefused() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 1...60)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let deflate = Bool.random() ? PermessageDeflate() : nil
            for role in [WebSocketRole.client, .server] {
                #expect(Feeder(role: role, deflate: deflate).receiveAnyhow(bytes) != nil, "\(bytes)")
            }
        }
    }

    /// Against the standard library's own judgement.
    @Test func textIsJudgedAsBytesCome() {
        let bytes: [UInt8] =
            [
                0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5,
            ]
        for a in bytes {
            for b in bytes {
                for c in bytes {
                    for d in bytes {
                        let text = [a, b, c, d]
                        var validator = UTF8Validator()
                        let isAccepted = text.withUnsafeBytes { validator.accepts($0) } && validator.isComplete
                        guard isAccepted != (String(validating: text, as: UTF8.self) != nil) else { continue }
                        Issue.record("\(text)")
                    }
                }
            }
        }
    }
}
