import LoadingKitHPACK
import Testing

/// The errors of a list by the rules of RFC 9113 §8, and its limits.
@Suite struct ListTests {
    private func literal(_ name: String, _ value: String) -> [UInt8] {
        [0x00, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
    }

    private func list(_ pairs: [(String, String)]) throws -> HPACKHeaderList {
        var decoder = HPACKDecoder()
        let list = try decoder.decode(pairs.flatMap { literal($0.0, $0.1) })
        // The same again from the table must say the same.
        _ = try decoder.decode(pairs.flatMap { [0x40] + literal($0.0, $0.1).dropFirst() })
        let again = try decoder.decode(pairs.indices.reversed().map { 0xBE + UInt8($0) })
        #expect(again.malformation == list.malformation && again.pairs == list.pairs, "\(pairs)")
        return list
    }

    @Test func malformed() throws {
        let cases: [([(String, String)], HPACKMalformation)] = [
            ([], []), ([("a", "b"), ("a", "b")], []), ([("te", "trailers")], []), ([("a", "")], []),
            ([("!#$%&'*+-.^_`|~09az", "\u{80}\t ÿ.")], []),
            ([("A", "b")], .uppercaseName), ([("Content-Length", "0")], .uppercaseName),
            ([("", "b")], .invalidName), ([("a b", "c")], .invalidName), ([("a\0", "c")], .invalidName),
            ([("ä", "c")], .invalidName), ([("a:", "c")], .invalidName), ([("a\r\nb", "c")], .invalidName),
            ([("A b", "c")], [.invalidName, .uppercaseName]),
            ([("a", "b\0")], .invalidValue), ([("a", "b\nc")], .invalidValue), ([("a", "b\rc")], .invalidValue),
            ([("a", "\u{7F}")], .invalidValue), ([("a", "\u{1}")], .invalidValue),
            ([("a", " b")], .whitespaceAroundValue), ([("a", "b\t")], .whitespaceAroundValue),
            ([("a", " ")], .whitespaceAroundValue),
            ([(":status", "200"), ("a", "b")], []),
            ([("a", "b"), (":status", "200")], .misplacedPseudoField),
            ([(":status", "200"), (":status", "200")], .duplicatePseudoField),
            ([(":nothing", "x")], .unknownPseudoField), ([(":", "x")], .unknownPseudoField),
            ([(":Status", "200")], .unknownPseudoField),
            ([("a", "b"), (":nothing", "x")], [.unknownPseudoField, .misplacedPseudoField]),
            ([("connection", "close")], .connectionSpecificField), ([("upgrade", "x")], .connectionSpecificField),
            ([("keep-alive", "x")], .connectionSpecificField), ([("te", "gzip")], .connectionSpecificField),
            ([("transfer-encoding", "chunked")], .connectionSpecificField),
            ([("proxy-connection", "x")], .connectionSpecificField), ([(":path", "a\0")], .invalidValue),
        ]
        for (pairs, malformation) in cases { #expect(try list(pairs).malformation == malformation, "\(pairs)") }
    }

    @Test func pseudoFields() throws {
        let list = try list([
            (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/"),
            (":authority", "example.com"), ("a", "b"),
        ])
        #expect(list.method == "CONNECT" && list.protocol == "websocket" && list.scheme == "https")
        #expect(list.path == "/" && list.authority == "example.com" && list.status == nil)
        #expect(list.contains(.path) && !list.contains(.status) && list.hasPseudoFields)
        #expect(list.fields.count == 1 && list.fields[name: "A"] == "b")
        #expect(try !self.list([("a", "b")]).hasPseudoFields)
    }

    @Test func statusHasThreeDigits() throws {
        let cases: [(String, Int?)] = [
            ("200", 200), ("100", 100), ("999", 999), ("099", nil), ("20", nil), ("2000", nil), ("2x0", nil),
            ("+20", nil), ("", nil),
        ]
        for (text, status) in cases { #expect(try list([(":status", text)]).status == status, "\(text)") }
    }

    @Test func theFirstOfDuplicatesStays() throws {
        #expect(try list([(":path", "/a"), (":path", "/b")]).path == "/a")
    }

    @Test func sizeIsCountedAsHTTP2Does() throws {
        let list = try list([(":status", "200"), ("abc", "de")])
        #expect(list.uncompressedBytes == 7 + 3 + 32 + 3 + 2 + 32)
        #expect(HPACKEncoder.uncompressedBytes(.response(status: 200), fields(["abc": "de"])) == 79)
    }

    @Test func limits() throws {
        let block = literal("a", "1") + literal("b", "2") + literal("c", "3")
        for (bytes, count, kept) in [(102, 3, 3), (101, 3, 2), (102, 2, 2), (33, 3, 0), (0, 0, 0), (-1, -1, 0)] {
            var limits = HPACKLimits()
            (limits.listBytes, limits.fieldCount) = (bytes, count)
            var decoder = HPACKDecoder(limits: limits)
            let list = try decoder.decode(block)
            #expect(list.fields.count == kept && list.exceedsLimits == (kept < 3), "\(bytes) \(count)")
            #expect(list.uncompressedBytes == 102)
        }
    }

    /// One byte that stands for 4 KB, over and over: the list keeps no more than it may, and the decoder goes on.
    @Test func aSmallBlockCannotFillTheMemory() throws {
        var decoder = HPACKDecoder()
        let value = [UInt8](repeating: 0x78, count: 4000)
        _ = try decoder.decode([0x40, 1, 0x61, 0x7F, 0xA1, 0x1E] + value)
        #expect(decoder.tableCount == 1)
        let list = try decoder.decode([UInt8](repeating: 0xBE, count: 100_000))
        #expect(list.exceedsLimits && list.uncompressedBytes == 100_000 * 4033)
        #expect(list.fields.count == 256 * 1024 / 4033)
        #expect(try decoder.decode([0xBE]).fields.count == 1)
    }

    /// Fields that a list does not keep are in the table all the same.
    @Test func theTableGoesOnBeyondTheLimits() throws {
        var limits = HPACKLimits()
        limits.fieldCount = 1
        var decoder = HPACKDecoder(limits: limits)
        let block = [0x82, 0x40] + literal("a", "1").dropFirst() + [0x40] + literal("b", "2").dropFirst()
        #expect(try decoder.decode(Array(block)).exceedsLimits)
        #expect(try decoder.decode([0xBE]).pairs == [Pair("b", "2")])
        #expect(try decoder.decode([0xBF]).pairs == [Pair("a", "1")])
    }

    @Test func aListIsUsedAgain() throws {
        var decoder = HPACKDecoder()
        var list = HPACKHeaderList()
        let first = [0x88] + literal("A", "1")
        try first.withUnsafeBytes { bytes in try decoder.decode(bytes, into: &list) }
        let kept = list.fields
        try literal("b", "2").withUnsafeBytes { bytes in try decoder.decode(bytes, into: &list) }
        #expect(list.pairs == [Pair("b", "2")] && list.malformation == [] && list.status == nil)
        #expect(kept.map(\.name) == ["A"])
    }

    @Test func truncated() {
        let block = [0x82, 0x44] + literal("", "/abc").dropFirst(2) + literal("name", "value")
        var complete = 0
        for count in 0...block.count {
            let kind = failure(Array(block.prefix(count)))
            if kind == nil { complete += 1 } else { #expect(kind == .truncated) }
        }
        #expect(complete == 4)
    }

    /// Refused before it is looked at: none of this memory is ever touched.
    @Test func aBlockIsNotLongerThan256MiB() {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 20 + 1, alignment: 8)
        defer { block.deallocate() }
        var decoder = HPACKDecoder()
        var list = HPACKHeaderList()
        #expect(throws: HPACKError(.blockTooLong)) {
            try decoder.decode(UnsafeRawBufferPointer(block), into: &list)
        }
    }

    @Test func errorsSayWhere() {
        var decoder = HPACKDecoder()
        #expect(throws: HPACKError(.invalidIndex, offset: 3)) { try decoder.decode([0x82, 0x84, 0x80, 0x82]) }
    }
}
