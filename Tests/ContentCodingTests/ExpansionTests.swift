import LoadingKitContentCoding
import TestSupport
import Testing

/// Bodies that expand without end: in constant memory, and not too far.
@Suite struct ExpansionTests {
    private static let zeros = [UInt8](repeating: 0, count: 1 << 20)

    /// So many mebibytes of zeros as one stream of raw deflate, or as a gzip member for each mebibyte.
    private static func bomb(_ mebibytes: Int, _ format: Coder.Format) -> [UInt8] {
        let piece = format == .raw ? Coder.flushed(zeros) : Coder.compress(zeros, format)
        return (0..<mebibytes).flatMap { _ in piece } + (format == .raw ? [3, 0] : [])
    }

    /// Decodes without keeping anything; gives how much was decoded, and the error.
    private static func drain(
        _ body: [UInt8], _ contentEncoding: String, _ limits: DecompressionLimits = DecompressionLimits()
    ) throws -> (count: Int, error: ContentCodingError.Kind?) {
        let decoder = try #require(ContentDecoder(contentEncoding: contentEncoding, limits: limits))
        var total = 0
        var room = [UInt8](repeating: 0, count: 64 * 1024)
        do {
            try body.withUnsafeBytes { input in
                var position = 0
                while true {
                    let count = try room.withUnsafeMutableBytes {
                        try decoder.decode(input, position: &position, into: $0)
                    }
                    if count == 0 { break }
                    total += count
                }
            }
            try decoder.finish()
            return (total, nil)
        } catch let error as ContentCodingError {
            return (total, error.kind)
        }
    }

    @Test(arguments: [Coder.Format.raw, .gzip])
    private func aGibibyteFromAMebibyteInConstantMemory(_ format: Coder.Format) throws {
        let body = Self.bomb(1024, format)
        #expect(body.count < 1 << 21)
        try ResidentMemory.resetPeak()
        let before = try ResidentMemory.current()
        var limits = DecompressionLimits()
        limits.ratio = .max
        let (count, error) = try Self.drain(body, format.coding, limits)
        #expect(count == 1 << 30 && error == nil)
        // The bound leaves room for other tests of this process; the whole would be four times as much.
        #expect(try ResidentMemory.peak() - before < 768 << 20)
    }

    /// Deflate's own 1,032 is more than the bound: a program that is sent 100 KiB need not have 100 MiB of memory.
    @Test(arguments: [Coder.Format.raw, .gzip])
    private func oneCodingIsStopped(_ format: Coder.Format) throws {
        let body = Self.bomb(100, format)
        let (count, error) = try Self.drain(body, format.coding)
        #expect(error == .expandsTooFar(ratio: 200) && count <= (32 << 20) + 64 * 1024)
    }

    @Test func whatIsSmallExpandsAsItLikes() throws {
        let body = Self.bomb(32, .gzip)
        let (count, error) = try Self.drain(body, "gzip")
        #expect(count == 32 << 20 && error == nil && count / body.count > 900)
    }

    /// A log whose lines differ in their times and numbers, as long as one likes.
    @Test func textDoesNotMeetTheBound() throws {
        var random = SeededGenerator(seed: 1)
        let lines = (0..<10_000).map { line in
            "{\"time\":\(1_700_000_000 + line),\"level\":\"info\",\"status\":200,\"bytes\":\(random.next() % 9999),"
                + "\"message\":\"the request was answered, and everything was as it is every time that it is asked for\"}\n"
        }
        let member = Coder.compress(Array(lines.joined().utf8), .gzip)
        let body = (0..<40).flatMap { _ in member }
        let (count, error) = try Self.drain(body, "gzip")
        #expect(count > 40 << 20 && error == nil)
    }

    @Test(arguments: ["deflate, gzip", "deflate, gzip, gzip"])
    func twoCodingsOneUponTheOtherAreStopped(_ contentEncoding: String) throws {
        let inner = Coder.member(Self.bomb(256, .raw))
        let body = contentEncoding == "deflate, gzip" ? inner : Coder.member(inner)
        let (count, error) = try Self.drain(body, contentEncoding)
        #expect(error == .expandsTooFar(ratio: 200))
        #expect(count <= max(200 * (body.count + 1), 32 << 20) + 64 * 1024)
    }

    /// Bytes that one layer expands and the next one ignores also cost time.
    @Test func whatALayerIgnoresIsBounded() throws {
        let padded = Coder.member(Array("text".utf8)) + [UInt8](repeating: 0, count: 64 << 20)
        let body = Coder.member(Coder.member(padded))
        let (count, error) = try Self.drain(body, "gzip, gzip, gzip")
        #expect(count == 4 && error == .corrupt("more than 65536 bytes follow its end"))
    }

    /// Zeros and some noise. The bound counts whole blocks of coded bytes, so that it is met in all divisions of the body or in
    /// none, however far the decoder reads ahead.
    @Test(arguments: [(100_000, false), (4_000_000, true)])
    func theBoundDoesNotDependOnHowTheBodyArrives(_ zeros: Int, _ isExceeded: Bool) throws {
        var random = SeededGenerator(seed: 1)
        let noise = (0..<500).map { _ in UInt8.random(in: 0...255, using: &random) }
        let plain = [UInt8](repeating: 0, count: zeros) + noise
        var limits = DecompressionLimits()
        limits.minimumSize = 64 << 10
        for coding in ContentCoding.builtIn {
            let body = try coding.encode(plain)
            let expected: ContentCodingError.Kind? = isExceeded ? .expandsTooFar(ratio: 200) : nil
            for (piece, room) in [(body.count, 1 << 23), (body.count, 4096), (7, 1 << 17), (1, 300)] {
                let pieces = stride(from: 0, to: body.count, by: piece).map { body[$0..<min($0 + piece, body.count)] }
                let kind = failure(pieces, coding.rawValue, room: room, limits: limits)
                #expect(kind == expected, "\(coding), pieces of \(piece), room for \(room)")
            }
        }
    }

    /// The bytes before an error count first, and all of them.
    @Test func aCorruptBodyWithinTheBound() throws {
        var body = Coder.compress([UInt8](repeating: 0, count: 300_000), .gzip)
        body[body.count - 8] ^= 1
        var limits = DecompressionLimits()
        limits.minimumSize = 64 << 10
        for (room, ratio) in [(1 << 20, 200), (1000, 200), (1 << 20, 4), (1000, 4)] {
            limits.ratio = ratio
            let expected =
                ratio == 4 ? .expandsTooFar(ratio: 4) : ContentCodingError.Kind.corrupt("incorrect data check")
            for pieces in [[body[...]], body.indices.map { body[$0...$0] }] {
                #expect(failure(pieces, "gzip", room: room, limits: limits) == expected, "room for \(room)")
            }
        }
    }

    @Test func theBoundIsAdjustable() throws {
        let body = Coder.compress([UInt8](repeating: 0, count: 200_000), .zlib)
        var limits = DecompressionLimits()
        limits.ratio = 10
        #expect(try Self.drain(body, "deflate", limits).error == nil, "small bodies may expand as they like")
        limits.minimumSize = 100_000
        let (count, error) = try Self.drain(body, "deflate", limits)
        #expect(error == .expandsTooFar(ratio: 10) && count < 200_000)
        limits.ratio = 0
        #expect(try Self.drain(body, "deflate", limits).error == .expandsTooFar(ratio: 0))
    }
}
