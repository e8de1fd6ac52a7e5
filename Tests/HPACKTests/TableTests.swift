import LoadingKitHPACK
import Testing

/// The dynamic table and its size (RFC 7541 §2.3.2, §4).
@Suite struct TableTests {
    /// A literal that is inserted: a name of one byte and a value of `count` bytes.
    private func literal(_ name: Character, _ count: Int) -> [UInt8] {
        [0x40, 1] + Array(String(name).utf8) + [UInt8(count)] + [UInt8](repeating: 0x76, count: count)
    }

    @Test func evictsTheOldest() throws {
        var decoder = HPACKDecoder(maximumTableSize: 3 * (32 + 1 + 10))
        _ = try decoder.decode(literal("a", 10) + literal("b", 10) + literal("c", 10))
        #expect(decoder.tableCount == 3)
        let block: [UInt8] = [0xBE, 0xBF, 0xC0]
        #expect(try decoder.decode(block).fields.map(\.name) == ["c", "b", "a"])
        _ = try decoder.decode(literal("d", 11))
        #expect(decoder.tableCount == 2 && decoder.tableSize == 87)
        #expect(try decoder.decode([0xBE, 0xBF]).fields.map(\.name) == ["d", "c"])
        #expect(failure(&decoder, [0xC0]) == .invalidIndex)
    }

    @Test func anEntryLargerThanTheTableEmptiesIt() throws {
        var decoder = HPACKDecoder(maximumTableSize: 50)
        _ = try decoder.decode(literal("a", 10))
        #expect(decoder.tableCount == 1)
        #expect(try decoder.decode(literal("b", 18)).fields.map(\.name) == ["b"])
        #expect(decoder.tableCount == 0 && decoder.tableSize == 0)
        #expect(failure(&decoder, [0xBE]) == .invalidIndex)
    }

    /// The name is taken from an entry that its own insertion evicts (RFC 7541 §4.4).
    @Test func aNameMayBeThatOfAnEvictedEntry() throws {
        var decoder = HPACKDecoder(maximumTableSize: 50)
        _ = try decoder.decode(literal("a", 10))
        let list = try decoder.decode([0x7E, 12] + [UInt8](repeating: 0x77, count: 12))
        #expect(list.pairs == [Pair("a", String(repeating: "w", count: 12))])
        #expect(try decoder.decode([0xBE]).pairs == list.pairs)
        #expect(decoder.tableCount == 1)
    }

    /// So many that the ring grows and the store is moved many times.
    @Test func manyInsertions() throws {
        var decoder = HPACKDecoder()
        var expected: [Pair] = []
        for number in 0..<5000 {
            let value = Array("\(number)".utf8) + [UInt8](repeating: 0x78, count: number % 97)
            _ = try decoder.decode([0x40, 1, 0x6E, UInt8(value.count)] + value)
            expected.append(Pair("n", String(decoding: value, as: UTF8.self)))
            guard number % 50 == 0 else { continue }
            let indices = (0..<decoder.tableCount).map { UInt8(62 + $0) }
            let list = try decoder.decode(indices.flatMap { $0 < 127 ? [$0 | 0x80] : [0xFF, $0 - 127] })
            #expect(list.pairs == expected.suffix(decoder.tableCount).reversed())
            #expect(decoder.tableSize <= 4096)
        }
    }

    @Test func invalidIndices() {
        let blocks: [[UInt8]] = [[0x80], [0xBE], [0x7E, 0], [0x0F, 0x2F, 0], [0xFF, 0x80, 0xFF, 0xFF, 0xFF, 0x0F]]
        for block in blocks { #expect(failure(block) == .invalidIndex, "\(block)") }
        #expect(failure([0xBD, 0x81]) == nil)
    }

    @Test func sizesAtTheStart() throws {
        let cases: [([UInt8], HPACKError.Kind?)] = [
            ([0x20], nil), ([0x20, 0x82], nil), ([0x20, 0x3F, 0xE1, 0x1F, 0x82], nil), ([0x3F, 0xE1, 0x1F], nil),
            ([0x3F, 0xE2, 0x1F], .tableSizeAboveMaximum), ([0x20, 0x20, 0x20], .tooManyTableSizes),
            ([0x82, 0x20], .misplacedTableSize), ([0x3F], .truncated),
            ([0x3F, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], .integerOverflow),
        ]
        for (block, kind) in cases { #expect(failure(block) == kind, "\(block)") }
    }

    @Test func aSizeEvicts() throws {
        var decoder = HPACKDecoder()
        _ = try decoder.decode(literal("a", 10) + literal("b", 10))
        _ = try decoder.decode([0x20 | 31, 43 - 31])
        #expect(decoder.tableCount == 1)
        #expect(try decoder.decode([0xBE]).fields.map(\.name) == ["b"])
        _ = try decoder.decode([0x20])
        #expect(decoder.tableCount == 0)
    }

    @Test func aLowerMaximumMustBeTakenUp() throws {
        let announced: [(sizes: [Int], block: [UInt8], kind: HPACKError.Kind?)] = [
            ([20], [0x82], .missingTableSize), ([20], [0x34, 0x82], nil), ([20], [0x20, 0x82], nil),
            ([20], [0x35, 0x82], .tableSizeAboveMaximum), ([20], [], nil),
            ([20, 30], [0x3E, 0x82], .missingTableSize), ([20, 30], [0x34, 0x3E, 0x82], nil),
            ([20, 30], [0x34, 0x82], nil), ([30, 20], [0x34, 0x82], nil), ([20, 4096], [0x82], .missingTableSize),
            ([8192], [0x82], nil), ([4096], [0x82], nil), ([-1], [0x20, 0x82], nil), ([.max], [0x82], nil),
        ]
        for (sizes, block, kind) in announced {
            var decoder = HPACKDecoder()
            for size in sizes { decoder.setMaximumTableSize(size) }
            #expect(failure(&decoder, block) == kind, "\(sizes) \(block)")
            if kind == nil, !block.isEmpty { #expect(failure(&decoder, [0x82]) == nil, "\(sizes) \(block)") }
        }
    }

    @Test func nothingIsDecodedAfterAnError() {
        var decoder = HPACKDecoder()
        #expect(failure(&decoder, [0x80]) == .invalidIndex)
        #expect(failure(&decoder, [0x82]) == .decoderFailed)
    }
}
