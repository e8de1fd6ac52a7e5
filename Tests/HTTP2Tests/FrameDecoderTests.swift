import LoadingKitHTTP2
import TestSupport
import Testing

/// The rules for frames of RFC 9113 §4 and §6, and reading in pieces.
@Suite struct FrameDecoderTests {
    private typealias Kind = HTTP2Error.Kind

    /// Header, payload, and the error that they have to make; a nil error is a frame that is taken.
    private static let rules: [(name: String, bytes: [UInt8], kind: Kind?)] = [
        ("DATA on stream 0", Bytes.frame(type: 0, stream: 0, [1]), .streamRequired),
        ("DATA padded with no length", Bytes.frame(type: 0, flags: 8, stream: 1, []), .frameSize),
        ("DATA padded as long as itself", Bytes.frame(type: 0, flags: 8, stream: 1, [2, 0]), .paddingTooLong),
        ("DATA with padding alone", Bytes.frame(type: 0, flags: 8, stream: 1, [1, 0]), nil),
        ("DATA empty", Bytes.frame(type: 0, stream: 1, []), nil),
        ("DATA of 16,384", Bytes.frame(type: 0, stream: 1, Array(repeating: 1, count: 16384)), nil),
        ("DATA of 16,385", Bytes.frame(type: 0, stream: 1, [], length: 16385), .frameTooLarge),
        ("unknown type, too long", Bytes.frame(type: 99, stream: 1, [], length: 16385), .frameTooLarge),
        ("unknown type", Bytes.frame(type: 99, flags: 0xff, stream: 1, [1, 2, 3]), nil),
        ("HEADERS on stream 0", Bytes.frame(type: 1, flags: 4, stream: 0, []), .streamRequired),
        ("HEADERS padded with no length", Bytes.frame(type: 1, flags: 12, stream: 1, []), .frameSize),
        ("HEADERS padded too long", Bytes.frame(type: 1, flags: 12, stream: 1, [1]), .paddingTooLong),
        ("HEADERS without room for priority", Bytes.frame(type: 1, flags: 0x24, stream: 1, [1, 2, 3, 4]), .frameSize),
        (
            "HEADERS with padding over its priority",
            Bytes.frame(type: 1, flags: 0x2c, stream: 1, [3, 0, 0, 0, 0, 0, 0, 0]), .frameSize
        ),
        ("HEADERS of nothing", Bytes.frame(type: 1, flags: 4, stream: 1, []), nil),
        ("PRIORITY on stream 0", Bytes.frame(type: 2, stream: 0, [0, 0, 0, 0, 0]), .streamRequired),
        ("PRIORITY of 4", Bytes.frame(type: 2, stream: 1, [0, 0, 0, 0]), .frameSize),
        ("PRIORITY of 5", Bytes.frame(type: 2, stream: 1, [0, 0, 0, 0, 0]), nil),
        ("RST_STREAM on stream 0", Bytes.frame(type: 3, stream: 0, [0, 0, 0, 0]), .streamRequired),
        ("RST_STREAM of 3", Bytes.frame(type: 3, stream: 1, [0, 0, 0]), .frameSize),
        ("SETTINGS on a stream", Bytes.frame(type: 4, stream: 1, []), .connectionFrameOnStream),
        ("SETTINGS of 5", Bytes.frame(type: 4, stream: 0, [0, 0, 0, 0, 0]), .frameSize),
        ("SETTINGS with ACK and a payload", Bytes.frame(type: 4, flags: 1, stream: 0, [0, 1, 0, 0, 0, 0]), .frameSize),
        ("SETTINGS empty", Bytes.frame(type: 4, stream: 0, []), nil),
        ("SETTINGS of 64", Bytes.frame(type: 4, stream: 0, Array(repeating: 0, count: 64 * 6)), nil),
        ("SETTINGS of 65", Bytes.frame(type: 4, stream: 0, Array(repeating: 0, count: 65 * 6)), .controlFlood),
        ("PUSH_PROMISE on stream 0", Bytes.frame(type: 5, flags: 4, stream: 0, [0, 0, 0, 2]), .streamRequired),
        ("PUSH_PROMISE without a stream", Bytes.frame(type: 5, flags: 4, stream: 1, [0, 0, 0]), .frameSize),
        ("PUSH_PROMISE of stream 0", Bytes.frame(type: 5, flags: 4, stream: 1, [0, 0, 0, 0]), .badPromisedStream),
        ("PUSH_PROMISE of an odd stream", Bytes.frame(type: 5, flags: 4, stream: 1, [0, 0, 0, 3]), .badPromisedStream),
        ("PUSH_PROMISE of stream 2", Bytes.frame(type: 5, flags: 4, stream: 1, [0, 0, 0, 2]), nil),
        ("PING on a stream", Bytes.frame(type: 6, stream: 1, Array(repeating: 0, count: 8)), .connectionFrameOnStream),
        ("PING of 7", Bytes.frame(type: 6, stream: 0, Array(repeating: 0, count: 7)), .frameSize),
        (
            "GOAWAY on a stream", Bytes.frame(type: 7, stream: 1, Array(repeating: 0, count: 8)),
            .connectionFrameOnStream
        ),
        ("GOAWAY of 7", Bytes.frame(type: 7, stream: 0, Array(repeating: 0, count: 7)), .frameSize),
        ("WINDOW_UPDATE of 5", Bytes.frame(type: 8, stream: 1, [0, 0, 0, 0, 1]), .frameSize),
        ("WINDOW_UPDATE of nothing", Bytes.frame(type: 8, stream: 1, [0, 0, 0, 0]), .zeroIncrement),
        ("WINDOW_UPDATE of the reserved bit", Bytes.frame(type: 8, stream: 1, [0x80, 0, 0, 0]), .zeroIncrement),
        ("WINDOW_UPDATE, connection, of nothing", Bytes.frame(type: 8, stream: 0, [0, 0, 0, 0]), .zeroIncrement),
        ("CONTINUATION of nothing", Bytes.frame(type: 9, flags: 4, stream: 1, [1]), .unexpectedContinuation),
        ("CONTINUATION on stream 0", Bytes.frame(type: 9, flags: 4, stream: 0, [1]), .streamRequired),
    ]

    @Test func frameRules() {
        for rule in Self.rules {
            let frames = FrameReading.frames(rule.bytes)
            let kinds = frames.compactMap { frame -> Kind? in
                if case .failure(let error) = frame { error.kind } else { nil }
            }
            #expect(kinds == (rule.kind.map { [$0] } ?? []), "\(rule.name)")
            #expect(frames.count == 1, "\(rule.name): \(frames)")
            for split in 0...min(rule.bytes.count, 40) {
                #expect(FrameReading.frames(rule.bytes, pieces: [split]) == frames, "\(rule.name) split at \(split)")
            }
        }
    }

    /// The errors that end a stream alone, after which reading goes on.
    @Test func streamErrorsLeaveTheConnection() {
        let ping = Bytes.frame(type: 6, stream: 0, Array(repeating: 7, count: 8))
        let cases: [([UInt8], HTTP2Error.Kind)] = [
            (Bytes.frame(type: 2, stream: 3, [0]), .frameSize),
            (Bytes.frame(type: 8, stream: 3, [0, 0, 0, 0]), .zeroIncrement),
        ]
        for (bytes, kind) in cases {
            let frames = FrameReading.frames(bytes + ping)
            #expect(
                frames == [
                    .failure(HTTP2Error(kind, .stream(3))),
                    .other(.ping(0x0707_0707_0707_0707, isAcknowledgement: false)),
                ])
        }
    }

    @Test func errorsOfTheConnectionStay() {
        var reading = FrameReading()
        reading.feed(Bytes.frame(type: 0, stream: 0, []))
        #expect(reading.frames == [.failure(HTTP2Error(.streamRequired))])
        #expect(throws: HTTP2Error(.streamRequired)) {
            try Bytes.frame(type: 4, stream: 0, []).withUnsafeBytes { input in
                var position = 0
                _ = try reading.decoder.next(input, &position)
            }
        }
    }

    /// §6.10: nothing but CONTINUATION of the same stream between HEADERS and END_HEADERS.
    @Test func blocksAreNotInterrupted() {
        let open = Bytes.frame(type: 1, stream: 1, [1, 2])
        for type in UInt8(0)...10 {
            let stream: UInt32 = type == 9 ? 3 : [4, 6, 7].contains(type) ? 0 : 1
            let frames = FrameReading.frames(open + Bytes.frame(type: type, flags: 4, stream: stream, []))
            #expect(frames == [.failure(HTTP2Error(.blockInterrupted))], "type \(type)")
        }
        let whole = open + Bytes.frame(type: 9, stream: 1, [3]) + Bytes.frame(type: 9, flags: 4, stream: 1, [4])
        #expect(FrameReading.frames(whole) == [.block(1, promised: nil, endStream: false, nil, [1, 2, 3, 4])])
    }

    @Test func blocksAreBounded() {
        let limits = HTTP2Limits()
        let open = Bytes.frame(type: 1, stream: 1, [])
        let empty = Array(repeating: Bytes.frame(type: 9, stream: 1, []), count: limits.continuationFrames)
        let last = Bytes.frame(type: 9, flags: 4, stream: 1, [])
        let tooMany = open + empty.joined() + last
        let allowed = open + empty.dropLast().joined() + last
        #expect(FrameReading.frames(tooMany) == [.failure(HTTP2Error(.headerFragmentFlood))])
        #expect(FrameReading.frames(allowed) == [.block(1, promised: nil, endStream: false, nil, [])])
        let large = Bytes.frame(type: 9, stream: 1, Array(repeating: 0, count: 16384))
        let tooLarge = open + Array(repeating: large, count: 17).joined()
        #expect(FrameReading.frames(tooLarge) == [.failure(HTTP2Error(.headerListTooLarge))])
        var small = HTTP2Limits()
        small.headerListBytes = 100
        let first = Bytes.frame(type: 1, flags: 4, stream: 1, Array(repeating: 0, count: 101))
        #expect(FrameReading.frames(first, limits: small) == [.failure(HTTP2Error(.headerListTooLarge))])
    }

    @Test func debugDataIsBounded() {
        let bytes = Bytes.frame(type: 7, stream: 0, Array(repeating: 0, count: 8) + Array(repeating: 65, count: 5000))
        let expected = HTTP2Frame.goAway(
            lastStream: 0, .noError, debugData: Array(repeating: 65, count: HTTP2Limits().debugDataBytes))
        #expect(FrameReading.frames(bytes) == [.other(expected)])
    }

    /// A block that is too long for a frame is divided, and put together again.
    @Test func longBlocksAreDivided() {
        let block = (0..<50000).map { UInt8(truncatingIfNeeded: $0) }
        for size in [16384, 16385, 24999, 25000, 50000] {
            let bytes = Bytes.written { output in
                block.withUnsafeBytes {
                    HTTP2FrameEncoder.headers(
                        $0, stream: 5, endStream: true, priority: HTTP2Priority(dependency: 3), padding: 9,
                        maxFrameSize: size, to: &output)
                }
            }
            var reading = FrameReading()
            reading.decoder.maxFrameSize = size
            reading.feed(bytes)
            #expect(
                reading.frames == [
                    .block(5, promised: nil, endStream: true, HTTP2Priority(dependency: 3), block)
                ], "\(size)")
        }
    }

    /// Random frames, right and wrong, give the same whatever the pieces they come in.
    @Test func splitInvariance() {
        var random = SeededGenerator(seed: 9113)
        for round in 0..<400 {
            let bytes = (0..<5).flatMap { _ in RandomFrames.frame(using: &random) }
            let whole = FrameReading.frames(bytes)
            var pieces = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                Int.random(in: 0...bytes.count, using: &random)
            }
            pieces.sort()
            #expect(FrameReading.frames(bytes, pieces: pieces) == whole, "round \(round)")
            #expect(FrameReading.frames(bytes, pieces: Array(0..<bytes.count)) == whole, "round \(round), bytes")
        }
    }
}
