import LoadingKitHTTP2
import Testing

/// Each type of frame (RFC 9113 §6): its bytes are read as its fields, and the fields are written as the bytes.
@Suite struct FrameTests {
    private struct Case: Sendable {
        let name: String
        let bytes: String
        let frame: WholeFrame
        let write: @Sendable (inout [UInt8]) -> Void

        init(_ name: String, _ bytes: String, _ frame: WholeFrame, _ write: @escaping @Sendable (inout [UInt8]) -> Void)
        {
            (self.name, self.bytes, self.frame, self.write) = (name, bytes, frame, write)
        }
    }

    private typealias Encoder = HTTP2FrameEncoder
    private static let text = Array("abc".utf8)
    private static let weighted = HTTP2Priority(dependency: 3, isExclusive: true, weight: 16)

    private static let cases = [
        Case(
            "DATA", "000003 00 01 00000003 616263",
            .data(stream: 3, text, flowControlled: 3, frameLength: 3, endStream: true)
        ) { output in text.withUnsafeBytes { Encoder.data($0, stream: 3, endStream: true, to: &output) } },
        Case(
            "DATA, padded", "000006 00 08 00000003 02 616263 0000",
            .data(stream: 3, text, flowControlled: 6, frameLength: 6, endStream: false)
        ) { output in
            text.withUnsafeBytes { Encoder.data($0, stream: 3, endStream: false, padding: 2, to: &output) }
        },
        Case(
            "HEADERS", "000002 01 05 00000001 8286", .block(1, promised: nil, endStream: true, nil, [0x82, 0x86])
        ) { output in block { Encoder.headers($0, stream: 1, endStream: true, to: &output) } },
        Case(
            "HEADERS, padded, with a priority", "00000a 01 2c 00000005 02 80000003 0f 8286 0000",
            .block(5, promised: nil, endStream: false, weighted, [0x82, 0x86])
        ) { output in
            block {
                Encoder.headers($0, stream: 5, endStream: false, priority: weighted, padding: 2, to: &output)
            }
        },
        Case("PRIORITY", "000005 02 00 00000007 80000003 0f", .other(.priority(stream: 7, weighted))) {
            Encoder.priority(weighted, stream: 7, to: &$0)
        },
        Case("RST_STREAM", "000004 03 00 00000007 00000008", .other(.resetStream(stream: 7, .cancel))) {
            Encoder.resetStream(7, .cancel, to: &$0)
        },
        Case(
            "RST_STREAM, a code of its own", "000004 03 00 00000007 fffffffe",
            .other(.resetStream(stream: 7, .init(rawValue: 0xffff_fffe)))
        ) { Encoder.resetStream(7, .init(rawValue: 0xffff_fffe), to: &$0) },
        Case("SETTINGS", "00000c 04 00 00000000 0001 00001000 ffff 7fffffff", .other(.settings(settings))) {
            Encoder.settings(settings, to: &$0)
        },
        Case("SETTINGS, acknowledged", "000000 04 01 00000000", .other(.settingsAcknowledgement)) {
            Encoder.settingsAcknowledgement(to: &$0)
        },
        Case(
            "PUSH_PROMISE", "000006 05 04 00000001 00000002 8286",
            .block(1, promised: 2, endStream: false, nil, [0x82, 0x86])
        ) { output in block { Encoder.pushPromise($0, promised: 2, stream: 1, to: &output) } },
        Case(
            "PUSH_PROMISE, padded", "000008 05 0c 00000001 01 00000002 8286 00",
            .block(1, promised: 2, endStream: false, nil, [0x82, 0x86])
        ) { output in block { Encoder.pushPromise($0, promised: 2, stream: 1, padding: 1, to: &output) } },
        Case(
            "PING", "000008 06 00 00000000 0123456789abcdef",
            .other(.ping(0x0123_4567_89ab_cdef, isAcknowledgement: false))
        ) { Encoder.ping(0x0123_4567_89ab_cdef, to: &$0) },
        Case(
            "PING, acknowledged", "000008 06 01 00000000 0000000000000001", .other(.ping(1, isAcknowledgement: true))
        ) { Encoder.ping(1, isAcknowledgement: true, to: &$0) },
        Case(
            "GOAWAY", "00000a 07 00 00000000 7fffffff 0000000b 6f6b",
            .other(.goAway(lastStream: 0x7fff_ffff, .enhanceYourCalm, debugData: [0x6f, 0x6b]))
        ) { Encoder.goAway(lastStream: 0x7fff_ffff, .enhanceYourCalm, debugData: [0x6f, 0x6b], to: &$0) },
        Case(
            "WINDOW_UPDATE", "000004 08 00 00000003 7fffffff", .other(.windowUpdate(stream: 3, increment: 0x7fff_ffff))
        ) {
            Encoder.windowUpdate(3, increment: 0x7fff_ffff, to: &$0)
        },
        Case(
            "CONTINUATION", "000000 01 01 00000001 000001 09 00 00000001 82 000001 09 04 00000001 86",
            .block(1, promised: nil, endStream: true, nil, [0x82, 0x86])
        ) { output in
            output += Bytes.frame(type: 1, flags: 1, stream: 1, [])
            [0x82 as UInt8].withUnsafeBytes { Encoder.continuation($0, stream: 1, endHeaders: false, to: &output) }
            [0x86 as UInt8].withUnsafeBytes { Encoder.continuation($0, stream: 1, endHeaders: true, to: &output) }
        },
    ]

    private static let settings = [
        HTTP2Setting(.headerTableSize, 4096), HTTP2Setting(.init(rawValue: 0xffff), 0x7fff_ffff),
    ]

    private static func block(_ write: (UnsafeRawBufferPointer) -> Void) {
        [0x82, 0x86 as UInt8].withUnsafeBytes(write)
    }

    @Test func areReadAndWritten() {
        for test in Self.cases {
            #expect(FrameReading.frames(Bytes.hex(test.bytes)) == [test.frame], "\(test.name)")
            #expect(Bytes.written(test.write) == Bytes.hex(test.bytes), "\(test.name)")
        }
    }

    /// §4.1, §6.9: the reserved bit of a stream or an increment is no part of it; flags without meaning are ignored.
    @Test func whatIsReservedIsIgnored() {
        let cases: [(String, WholeFrame)] = [
            ("000000 04 fe 80000000", .other(.settings([]))),
            ("000004 08 ff 80000003 80000001", .other(.windowUpdate(stream: 3, increment: 1))),
            ("000000 00 f1 80000003", .data(stream: 3, [], flowControlled: 0, frameLength: 0, endStream: true)),
        ]
        for (bytes, frame) in cases {
            #expect(FrameReading.frames(Bytes.hex(bytes)) == [frame], "\(bytes)")
        }
    }
}
