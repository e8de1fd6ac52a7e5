import LoadingKitContentCoding
import Testing

/// Bodies that are not what their coding says: a typed error, or the right bytes, and never other ones.
@Suite struct CorruptBodyTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let contentEncoding: String
        let body: [UInt8]
        let expected: ContentCodingError.Kind
        var testDescription: String { name }
    }

    private static let text = Array("It was the age of wisdom, it was the age of foolishness. ".utf8)
    private static let member = Coder.member(text)
    private static let zlib = Coder.compress(text, .zlib)

    /// The bytes with one replaced; a negative index counts from the end.
    private static func replaced(_ bytes: [UInt8], _ index: Int, _ change: (UInt8) -> UInt8) -> [UInt8] {
        var bytes = bytes
        let index = index < 0 ? bytes.count + index : index
        bytes[index] = change(bytes[index])
        return bytes
    }

    private static let noMagic = ContentCodingError.Kind.corrupt("it does not begin with gzip's magic number")

    private static let cases: [Case] = [
        Case(name: "no gzip at all", contentEncoding: "gzip", body: Array("<html>".utf8), expected: noMagic),
        Case(name: "zlib said to be gzip", contentEncoding: "gzip", body: zlib, expected: noMagic),
        Case(
            name: "second byte of the magic number", contentEncoding: "gzip", body: replaced(member, 1) { $0 ^ 1 },
            expected: noMagic),
        Case(
            name: "method", contentEncoding: "gzip", body: replaced(member, 2) { _ in 7 },
            expected: .corrupt("unknown compression method")),
        Case(
            name: "reserved flag", contentEncoding: "gzip", body: replaced(member, 3) { _ in 0x20 },
            expected: .corrupt("unknown header flags set")),
        Case(
            name: "the header's checksum", contentEncoding: "gzip",
            body: replaced(Coder.member(text, .checksum), 10) { ~$0 }, expected: .corrupt("header crc mismatch")),
        Case(
            name: "checksum", contentEncoding: "gzip", body: replaced(member, -8) { $0 ^ 1 },
            expected: .corrupt("incorrect data check")),
        Case(
            name: "length", contentEncoding: "gzip", body: replaced(member, -4) { $0 &+ 1 },
            expected: .corrupt("incorrect length check")),
        Case(
            name: "second member's checksum", contentEncoding: "gzip",
            body: member + replaced(member, -8) { $0 ^ 1 }, expected: .corrupt("incorrect data check")),
        Case(
            name: "second member's method", contentEncoding: "gzip", body: member + [0x1f, 0x8b, 7, 0],
            expected: .corrupt("unknown compression method")),
        Case(
            name: "Adler-32", contentEncoding: "deflate", body: replaced(zlib, -1) { ~$0 },
            expected: .corrupt("incorrect data check")),
        Case(
            name: "dictionary", contentEncoding: "deflate", body: [0x78, 0xbb, 1, 2, 3, 4, 3, 0],
            expected: .corrupt("it needs a dictionary")),
        Case(
            name: "type of block", contentEncoding: "deflate", body: [0x07, 0x00],
            expected: .corrupt("invalid block type")),
        Case(
            name: "stored block's length", contentEncoding: "deflate", body: [0x01, 1, 0, 1, 0, 65],
            expected: .corrupt("invalid stored block lengths")),
        Case(
            name: "distance behind the beginning", contentEncoding: "deflate", body: [0x03, 0x12, 0, 0],
            expected: .corrupt("invalid distance too far back")),
        Case(
            name: "inner coding", contentEncoding: "gzip, deflate", body: Coder.compress(Array("<html>".utf8), .zlib),
            expected: noMagic),
        Case(name: "one byte of gzip", contentEncoding: "gzip", body: [0x1f], expected: .truncated),
        Case(name: "one byte of deflate", contentEncoding: "deflate", body: [0x78], expected: .truncated),
        Case(
            name: "nothing of the inner coding", contentEncoding: "gzip, gzip", body: Coder.member([]),
            expected: .truncated),
    ]

    @Test(arguments: cases) private func failsHoweverItIsCut(_ test: Case) {
        #expect(failure(test.body, test.contentEncoding) == test.expected)
        #expect(failure(test.body.indices.map { test.body[$0...$0] }, test.contentEncoding, room: 1) == test.expected)
    }

    @Test(arguments: Coder.Format.allCases) private func truncatedAtEveryOffset(_ format: Coder.Format) {
        let body = Coder.compress(Self.text, format)
        let wrong = (1..<body.count).filter { failure(Array(body[..<$0]), format.coding) != .truncated }
        #expect(wrong == [])
    }

    @Test func truncatedInTheSecondMember() throws {
        let body = Self.member + Coder.member(Self.text, [.name, .extra, .checksum])
        // Up to the first byte of a magic number, what follows the first member may be padding.
        for end in [Self.member.count, Self.member.count + 1] {
            #expect(try decoded(Array(body[..<end]), "gzip") == Self.text)
        }
        let wrong = (Self.member.count + 2..<body.count).filter { failure(Array(body[..<$0]), "gzip") != .truncated }
        #expect(wrong == [])
    }

    @Test func truncatedInEitherOfTwoCodings() {
        let outer = Coder.member(Self.zlib)
        #expect((1..<outer.count).filter { failure(Array(outer[..<$0]), "deflate, gzip") != .truncated } == [])
        let inner = (1..<Self.zlib.count).filter {
            failure(Coder.member(Array(Self.zlib[..<$0])), "deflate, gzip") != .truncated
        }
        #expect(inner == [])
    }

    /// Only formats that carry a checksum can promise it.
    @Test(arguments: [Coder.Format.gzip, .zlib]) private func everyFlippedBit(_ format: Coder.Format) {
        let body = format == .gzip ? Coder.member(Self.text, [.name, .extra]) : Self.zlib
        let wrong = body.indices.flatMap { index in
            (0..<8).map { Self.replaced(body, index) { [bit = $0] in $0 ^ 1 << bit } }
        }.filter { changed in
            failure(changed, format.coding) == nil && (try? decoded(changed, format.coding)) != Self.text
        }
        #expect(wrong == [])
    }

    @Test func everyByteOfRawDeflateReplaced() {
        // Without a checksum other bytes may come out; but nothing else than a typed error may be thrown.
        let body = Coder.compress(Self.text, .raw)
        let wrong = body.indices.flatMap { index in
            (0...255).map { byte in Self.replaced(body, index) { _ in UInt8(byte) } }
        }.filter { if case .corrupt("DecodingFlaw")? = failure($0, "deflate") { true } else { false } }
        #expect(wrong == [])
    }

    @Test func anErrorStays() throws {
        let decoder = try #require(ContentDecoder(contentEncoding: "deflate"))
        var room = [UInt8](repeating: 0, count: 16)
        for body in [[0x07, 0x00], Self.zlib] as [[UInt8]] {
            var position = 0
            let error = #expect(throws: ContentCodingError.self) {
                try body.withUnsafeBytes { input in
                    try room.withUnsafeMutableBytes { try decoder.decode(input, position: &position, into: $0) }
                }
            }
            #expect(error?.kind == .corrupt("invalid block type") && error?.coding == .deflate)
        }
        #expect(throws: ContentCodingError.self) { try decoder.finish() }
    }

    @Test func errorsAreInPlainWords() throws {
        var limits = DecompressionLimits()
        limits.ratio = 9
        limits.minimumSize = 10
        let texts: [([UInt8], String, String)] = [
            (
                [0x1f, 0], "gzip", "the body is not valid gzip: it does not begin with gzip's magic number"
            ),
            ([0x78], "deflate", "the body ended in the middle of its deflate coding"),
            (
                Coder.member([UInt8](repeating: 0, count: 200_000)), "gzip",
                "the gzip body expands to more than 9 times its size"
            ),
        ]
        for (body, coding, text) in texts {
            let error = #expect(throws: ContentCodingError.self) { try decoded(body, coding, limits: limits) }
            #expect(error?.description == text)
        }
    }
}
