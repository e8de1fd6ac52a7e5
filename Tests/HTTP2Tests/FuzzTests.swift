import LoadingKitHTTP2
import TestSupport
import Testing

/// Random frames in random order, right and wrong: accepted, or a typed error; the same whatever the pieces.
@Suite struct FuzzTests {

    /// Blocks that make many of the random messages valid.
    private static func headers(_ role: HTTP2Role, using random: inout SeededGenerator) -> [UInt8] {
        let stream = UInt32.random(in: 0...7, using: &random) * 2 + 1
        let block = [role == .client ? responseBlock : requestBlock, block(("a", "b")), []].randomElement(
            using: &random)
        return headersFrame(stream, endStream: Int.random(in: 0..<4, using: &random) == 0, block ?? [])
    }

    /// Frames that a peer might send on streams that may be there.
    private static func plausible(_ role: HTTP2Role, using random: inout SeededGenerator) -> [UInt8] {
        let stream = UInt32.random(in: 0...7, using: &random) * 2 + 1
        let count = Int.random(in: 0...30, using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0...2: return headers(role, using: &random)
        case 3: return Bytes.frame(type: 0, stream: stream, Array(repeating: 7, count: count))
        case 4: return Bytes.frame(type: 0, flags: 8, stream: stream, [UInt8(count)] + Array(repeating: 0, count: 30))
        case 5: return Bytes.frame(type: 2, stream: stream, [0, 0, 0, 1, UInt8(count)])
        case 6:
            return Bytes.frame(type: 8, stream: Bool.random(using: &random) ? 0 : stream, [0, 0, 0, UInt8(count) + 1])
        case 7: return Bytes.frame(type: 4, stream: 0, [0, 4, 0, 0, UInt8(count), 0])
        default: return Bytes.frame(type: 6, stream: 0, Array(repeating: UInt8(count), count: 8))
        }
    }

    private static func bytes(_ role: HTTP2Role, using random: inout SeededGenerator) -> [UInt8] {
        (0..<60).flatMap { _ in
            Int.random(in: 0..<40, using: &random) == 0
                ? RandomFrames.frame(using: &random) : plausible(role, using: &random)
        }
    }

    private static func start(_ role: HTTP2Role) throws -> Peer {
        var peer = Peer.connected(role)
        if role == .client {
            for index in 0..<8 { _ = try peer.request("POST", endStream: index % 2 == 0) }
        } else {
            for stream in stride(from: UInt32(1), to: 16, by: 2) { peer.feed(headersFrame(stream, requestBlock)) }
        }
        _ = peer.takeOutput()
        return peer
    }

    /// Events with DATA put together, which pieces divide, and bytes in place of ranges.
    private static func transcript(_ peer: Peer) -> ([HTTP2Event], [HTTP2StreamID: [UInt8]], HTTP2Error?) {
        let events = peer.events.filter { event in
            switch event {
            case .data(_, _, _, let endStream): endStream
            default: true
            }
        }
        let comparable = events.map { event in
            if case .data(let stream, _, _, let endStream) = event {
                HTTP2Event.data(stream: stream, 0..<0, flowControlled: 0, endStream: endStream)
            } else {
                event
            }
        }
        return (comparable, peer.bodies, peer.error)
    }

    @Test(arguments: [HTTP2Role.client, .server])
    func randomFrames(role: HTTP2Role) throws {
        var random = SeededGenerator(seed: role == .client ? 75 : 40)
        var survivors = 0
        for round in 0..<600 {
            let bytes = Self.bytes(role, using: &random)
            var whole = try Self.start(role)
            whole.feed(bytes)
            if whole.events.count > 20 { survivors += 1 }
            if whole.error != nil {
                let last = whole.takeFrames().last
                if case .other(.goAway)? = last {} else { Issue.record("round \(round) ended without GOAWAY") }
            }
            var pieces = try Self.start(role)
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + Int.random(in: 1...50, using: &random))
                pieces.feed(Array(bytes[start..<end]))
                start = end
            }
            let (expected, bodies, error) = Self.transcript(whole)
            let (events, pieceBodies, pieceError) = Self.transcript(pieces)
            #expect(events == expected, "round \(round)")
            #expect(pieceBodies == bodies, "round \(round)")
            #expect(pieceError == error, "round \(round)")
        }
        #expect(survivors > 20, "the frames are too wrong to test much: \(survivors)")
    }

    /// Bytes without any order.
    @Test func randomBytes() throws {
        var random = SeededGenerator(seed: 2)
        for role in [HTTP2Role.client, .server] {
            for _ in 0..<300 {
                var peer = try Self.start(role)
                peer.feed((0..<500).map { _ in UInt8.random(in: 0...255, using: &random) })
                peer.machine.didConsume(Int.random(in: Int.min...Int.max, using: &random), on: 1)
                peer.machine.setConnectionReceiveWindow(Int.random(in: Int.min...Int.max, using: &random))
                #expect(peer.machine.openStreamCount <= 10)
            }
        }
    }
}
