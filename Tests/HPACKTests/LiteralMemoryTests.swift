import TestSupport
import Testing

@testable import LoadingKitHPACK

/// Blocks that have literals in common with those before, against what they mean.
@Suite struct LiteralMemoryTests {
    /// How a field is sent.
    private enum Form: CaseIterable {
        case plain, inserted, plainWithStaticName, insertedWithStaticName, plainWithDynamicName, insertedWithDynamicName
        case indexed
    }

    private typealias Field = (form: Form, pair: Pair)

    private static let staticNames: [(name: String, index: UInt8)] = [("date", 33), ("etag", 34), ("server", 54)]
    private static let values =
        ["", "a", "b", "1024", "Sun, 22 Nov 2026 01:40:39 GMT", "Sun, 22 Nov 2026 01:40:38 GMT"]
        + [120, 130, 300].map { String(repeating: "v", count: $0) }

    @Test(arguments: [UInt64(1), 2, 3])
    func blocksMeanWhatTheySay(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var decoder = HPACKDecoder()
        // The dynamic table's newest entries.
        var table: [Pair] = []
        var fields: [Field] = []
        for _ in 0..<600 {
            for _ in 0..<Int.random(in: 0..<3, using: &random) { Self.change(&fields, &random) }
            var (block, expected): ([UInt8], [Pair]) = ([], [])
            for field in fields { expected.append(Self.append(field, &table, to: &block)) }
            #expect(try decoder.decode(block).pairs == expected)
        }
    }

    /// Changes one field, or adds or removes one; there are more than are remembered at times.
    private static func change(_ fields: inout [Field], _ random: inout SeededGenerator) {
        let form = Form.allCases.randomElement(using: &random) ?? .plain
        let names = form == .plain || form == .inserted ? ["x-a", "x-b"] : staticNames.map(\.name)
        let pair = Pair(
            names.randomElement(using: &random) ?? "", values.randomElement(using: &random) ?? "")
        let place = Int.random(in: 0...20, using: &random)
        if place >= fields.count {
            fields.append((form, pair))
        } else if fields.count > 15, Bool.random(using: &random) {
            fields.remove(at: place)
        } else {
            fields[place] = (form, pair)
        }
    }

    /// Appends a field, and gives what it means.
    private static func append(_ field: Field, _ table: inout [Pair], to block: inout [UInt8]) -> Pair {
        var pair = field.pair
        var isInserted = false
        let place = min(3, table.count - 1)
        let index = staticNames.first { $0.name == pair.name }?.index ?? 0
        switch field.form {
        case .plainWithStaticName where index > 0:
            block += [0x0F, index - 15]
        case .insertedWithStaticName where index > 0:
            block.append(0x40 | index)
            isInserted = true
        case .plainWithDynamicName where place >= 0:
            block += [0x0F, UInt8(62 + place - 15)]
            pair.name = table[place].name
        case .insertedWithDynamicName where place >= 1:
            block += [0x7F, UInt8(62 + place - 63)]
            isInserted = true
            pair.name = table[place].name
        case .indexed where place >= 0:
            block.append(0x80 | UInt8(62 + place))
            return table[place]
        case let form:
            isInserted = form == .inserted
            block += [isInserted ? 0x40 : 0x00, UInt8(pair.name.utf8.count)] + Array(pair.name.utf8)
        }
        var coded = ByteBuilder()
        Array(pair.value.utf8).withUnsafeBytes { BlockWriter.append($0, HuffmanTable.shared.pointee.codes, to: &coded) }
        block += Array(coded.bytes)
        if isInserted { table.insert(pair, at: 0) }
        table.removeLast(max(0, table.count - 5))
        return pair
    }
}
