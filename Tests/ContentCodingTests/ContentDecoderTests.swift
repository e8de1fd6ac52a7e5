import LoadingKitContentCoding
import TestSupport
import Testing

/// Whole bodies: each format, however it is cut into pieces.
@Suite struct ContentDecoderTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let contentEncoding: String
        let body: [UInt8]
        let expected: [UInt8]
        var testDescription: String { name }
    }

    private static let text = Array("It was the best of times, it was the worst of times. ".utf8)
    private static let halves = (text[..<20], text[20...])

    private static let cases: [Case] =
        Coder.HeaderParts.all.map {
            Case(name: "gzip, \($0)", contentEncoding: "gzip", body: Coder.member(text, $0), expected: text)
        } + [
            Case(name: "gzip by zlib", contentEncoding: "gzip", body: Coder.compress(text, .gzip), expected: text),
            Case(name: "x-gzip", contentEncoding: "x-gzip", body: Coder.member(text), expected: text),
            Case(name: "capitals", contentEncoding: "GZip", body: Coder.member(text), expected: text),
            Case(name: "deflate, zlib", contentEncoding: "deflate", body: Coder.compress(text, .zlib), expected: text),
            Case(name: "deflate, raw", contentEncoding: "deflate", body: Coder.compress(text, .raw), expected: text),
            Case(
                name: "deflate, raw and stored", contentEncoding: "deflate",
                body: Coder.compress(text, .raw, level: 0), expected: text),
            Case(
                name: "deflate, zlib, level 1", contentEncoding: "deflate",
                body: Coder.compress(text, .zlib, level: 1), expected: text),
            Case(name: "gzip of nothing", contentEncoding: "gzip", body: Coder.member([]), expected: []),
            Case(name: "zlib of nothing", contentEncoding: "deflate", body: Coder.compress([], .zlib), expected: []),
            Case(name: "raw deflate of nothing", contentEncoding: "deflate", body: [3, 0], expected: []),
            Case(
                name: "two members", contentEncoding: "gzip",
                body: Coder.member(Array(halves.0)) + Coder.member(Array(halves.1), [.name]), expected: text),
            Case(
                name: "members of nothing around one", contentEncoding: "gzip",
                body: Coder.member([]) + Coder.member(text) + Coder.member([]) + Coder.member([]), expected: text),
            Case(
                name: "padding of zeros", contentEncoding: "gzip",
                body: Coder.member(text) + [UInt8](repeating: 0, count: 50), expected: text),
            Case(
                name: "one byte after the member", contentEncoding: "gzip", body: Coder.member(text) + [0x1f],
                expected: text),
            Case(
                name: "words after the members", contentEncoding: "gzip",
                body: Coder.member(Array(halves.0)) + Coder.member(Array(halves.1)) + Array("trailing".utf8),
                expected: text),
            Case(
                name: "words, then a member that does not count", contentEncoding: "gzip",
                body: Coder.member(text) + [0x1f, 0] + Coder.member(text), expected: text),
            Case(
                name: "words after zlib", contentEncoding: "deflate",
                body: Coder.compress(text, .zlib) + Array("trailing".utf8), expected: text),
            Case(
                name: "words after raw deflate", contentEncoding: "deflate",
                body: Coder.compress(text, .raw) + Array("trailing".utf8), expected: text),
            Case(
                name: "gzip, then deflate", contentEncoding: "gzip, deflate",
                body: Coder.compress(Coder.member(text), .zlib), expected: text),
            Case(
                name: "deflate, then gzip", contentEncoding: "deflate,\tgzip",
                body: Coder.member(Coder.compress(text, .raw)), expected: text),
            Case(
                name: "identity and empty elements", contentEncoding: ", identity, gzip,, ",
                body: Coder.member(text), expected: text),
            Case(
                name: "four codings", contentEncoding: "gzip, gzip, deflate, gzip",
                body: Coder.member(Coder.compress(Coder.member(Coder.member(text)), .raw)), expected: text),
            Case(
                name: "words after each of two codings", contentEncoding: "gzip, gzip",
                body: Coder.member(Coder.member(text) + Array("a".utf8)) + Array("b".utf8), expected: text),
        ]
        + ["gzip", "deflate", "gzip, deflate"].map {
            Case(name: "\($0) without a byte", contentEncoding: $0, body: [], expected: [])
        }

    @Test(arguments: cases) private func everyCutGivesTheSame(_ test: Case) throws {
        let (body, coding) = (test.body, test.contentEncoding)
        #expect(try decoded(body, coding) == test.expected)
        for room in [1, 2, 3, 7, test.expected.count, test.expected.count + 1] where room > 0 {
            #expect(try decoded(body, coding, room: room) == test.expected, "room for \(room)")
        }
        let bytes = body.indices.map { body[$0...$0] }
        #expect(try decoded(bytes, coding, room: 1) == test.expected, "byte by byte")
        let wrong = body.indices.filter { split in
            (try? decoded([body[..<split], [], body[split...]], coding)) != test.expected
        }
        #expect(wrong == [], "splits")
    }

    @Test(arguments: Coder.Format.allCases) private func aLargeBodyOfEachFormat(_ format: Coder.Format) throws {
        var random = SeededGenerator(seed: 1)
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 1000 < 500 ? random.next() : UInt64($0 >> 8)) }
        let coded = Coder.compress(body, format)
        for (piece, room) in [(coded.count, 65536), (1460, 16384), (1, 300), (coded.count, 1)] {
            let pieces = stride(from: 0, to: coded.count, by: piece).map {
                coded[$0..<min($0 + piece, coded.count)]
            }
            #expect(try decoded(pieces, format.coding, room: room) == body, "pieces of \(piece), room for \(room)")
        }
    }

    @Test func whatIsNotBuiltInPassesThrough() {
        let values = [
            "", "identity", "Identity, identity", ",", "brotli", "gzip, bz2", "compress", "dcb", "dcz", "gzip, dcb",
            "gzipped", "gzip;q=1",
            "gzip, gzip, gzip, gzip, gzip", String(repeating: "deflate,", count: 100_000), "\u{0}", "gzíp",
        ]
        for value in values { #expect(ContentDecoder(contentEncoding: value) == nil, "\(value.prefix(40))") }
    }

    /// In the order in which browsers offer them; what is not built in is neither offered nor decoded.
    @Test func whatIsBuiltInIsOffered() {
        var offered = "gzip, deflate"
        #if Brotli
            offered += ", br"
        #else
            #expect(ContentDecoder(contentEncoding: "gzip, br") == nil)
        #endif
        #if Zstd
            offered += ", zstd"
        #else
            #expect(ContentDecoder(contentEncoding: "gzip, zstd") == nil)
        #endif
        #expect(ContentDecoder.acceptEncoding == offered)
        #expect(ContentCoding.builtIn.map(\.rawValue).joined(separator: ", ") == offered)
    }
}
