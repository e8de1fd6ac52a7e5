import LoadingKitHPACK
import TestSupport
import Testing

/// Blocks that nobody meant: each is accepted or fails with a typed error, and memory stays within bounds.
@Suite struct FuzzTests {
    @Test(arguments: 0..<8 as Range<UInt64>)
    func randomBlocks(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var accepted = 0
        var kinds: Set<HPACKError.Kind> = []
        for _ in 0..<400 {
            var decoder = HPACKDecoder()
            for _ in 0..<10 {
                let count = Int.random(in: 0..<64, using: &generator)
                // Indexed fields come often, so that blocks are long enough to get anywhere.
                let block = (0..<count).map { _ in
                    Bool.random(using: &generator)
                        ? UInt8.random(in: 0x81...0xC0, using: &generator)
                        : UInt8.random(in: 0...255, using: &generator)
                }
                let kind = failure(&decoder, block)
                #expect(decoder.tableSize <= 4096)
                if let kind { kinds.insert(kind) } else { accepted += 1 }
                if kind != nil { break }
            }
        }
        #expect(accepted > 0 && kinds.count > 3, "\(accepted) \(kinds)")
    }

    /// Blocks of an encoder with a few bytes changed: the decoder's state is then rarely that of the encoder.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func changedBlocks(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var failures = 0
        for _ in 0..<100 {
            var limits = HPACKLimits()
            limits.listBytes = 1000
            var decoder = HPACKDecoder(limits: limits)
            var encoder = HPACKEncoder()
            for _ in 0..<10 {
                var block = encoder.encode(.response(status: 200), randomFields(&generator))
                for _ in 0..<Int.random(in: 0..<3, using: &generator) {
                    block[Int.random(in: 0..<block.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                guard let list = try? decoder.decode(block) else {
                    failures += 1
                    break
                }
                let kept = list.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
                #expect(list.exceedsLimits || list.uncompressedBytes <= 1000)
                // Bytes above 0x7F become two in a `String`.
                #expect(kept <= 2000)
            }
        }
        #expect(failures > 0)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func whatIsEncodedIsDecoded(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var encoder = HPACKEncoder()
        encoder.splitsCookies = false
        var decoder = HPACKDecoder()
        for _ in 0..<500 {
            if Int.random(in: 0..<10, using: &generator) == 0 {
                let size = Int.random(in: 0..<5000, using: &generator)
                encoder.setMaximumTableSize(size)
                decoder.setMaximumTableSize(size)
            }
            let list = randomFields(&generator)
            let decoded = try decoder.decode(encoder.encode(.response(status: 404), list))
            #expect(decoded.fields == list && decoded.status == 404)
            #expect(encoder.tableSize == decoder.tableSize)
        }
    }

    private func randomFields(_ generator: inout SeededGenerator) -> HTTPFields {
        var fields = HTTPFields()
        for _ in 0..<Int.random(in: 0..<12, using: &generator) {
            let count = Int.random(in: 0..<40, using: &generator)
            let isText = Bool.random(using: &generator)
            var value = (0..<count).map { _ in UInt8.random(in: isText ? 0x20...0x7E : 0...255, using: &generator) }
            // Small numbers, so that fields come again.
            if count < 20 { value = Array("value\(count)".utf8) }
            let known = KnownField.allCases.randomElement(using: &generator) ?? .other
            let name = known == .other ? "x-\(count)" : known.name
            Array(name.utf8).withUnsafeBytes { name in
                value.withUnsafeBytes { value in fields.append(nameBytes: name, valueBytes: value) }
            }
        }
        return fields
    }
}
