import LoadingKitHTTP2
import Testing

@Suite struct FrameTraceTests {
    private static let frames: [(bytes: [UInt8], line: String)] = [
        (Bytes.frame(type: 4, stream: 0, []), "SETTINGS stream 0, 0 bytes"),
        (Bytes.frame(type: 4, flags: 1, stream: 0, []), "SETTINGS stream 0, 0 bytes ACK"),
        (
            Bytes.frame(type: 1, flags: 0x2d, stream: 1, [1, 2, 3]),
            "HEADERS stream 1, 3 bytes END_STREAM END_HEADERS PADDED PRIORITY"
        ),
        (Bytes.frame(type: 9, flags: 4, stream: 1, [1]), "CONTINUATION stream 1, 1 bytes END_HEADERS"),
        (Bytes.frame(type: 5, flags: 4, stream: 1, [1]), "PUSH_PROMISE stream 1, 1 bytes END_HEADERS"),
        (Bytes.frame(type: 0, flags: 9, stream: 3, [0, 4, 5]), "DATA stream 3, 3 bytes END_STREAM PADDED"),
        (Bytes.frame(type: 2, flags: 0xff, stream: 3, [1, 2, 3, 4, 5]), "PRIORITY stream 3, 5 bytes"),
        (Bytes.frame(type: 3, stream: 3, [0, 0, 0, 8]), "RST_STREAM stream 3, 4 bytes"),
        (Bytes.frame(type: 6, flags: 1, stream: 0, Array(1...8)), "PING stream 0, 8 bytes ACK"),
        (Bytes.frame(type: 7, stream: 0, Array(1...8)), "GOAWAY stream 0, 8 bytes"),
        (Bytes.frame(type: 8, stream: 0, [0, 0, 0, 1]), "WINDOW_UPDATE stream 0, 4 bytes"),
        (Bytes.frame(type: 200, flags: 0xff, stream: 5, [1]), "type 200 stream 5, 1 bytes"),
    ]

    private static func lines(_ bytes: [UInt8], in pieces: Int, isOfClient: Bool) -> [String] {
        var trace = HTTP2FrameTrace(isOfClient: isOfClient)
        return stride(from: 0, to: bytes.count, by: pieces).flatMap { start in
            bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { trace.describe($0) }
        }
    }

    @Test(arguments: [1, 2, 7, 10_000])
    func eachFrameHasALineHoweverItIsCut(pieces: Int) {
        let bytes = Self.frames.flatMap(\.bytes)
        #expect(Self.lines(bytes, in: pieces, isOfClient: false) == Self.frames.map(\.line))
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        #expect(Self.lines(preface + bytes, in: pieces, isOfClient: true) == Self.frames.map(\.line))
    }
}
