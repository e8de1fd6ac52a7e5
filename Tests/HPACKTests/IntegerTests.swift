import Testing

@testable import LoadingKitHPACK

/// Integers (RFC 7541 §5.1).
@Suite struct IntegerTests {
    @Test func examplesOfAppendixC1() {
        #expect(encoded(10, prefix: 5) == [10])
        #expect(encoded(1337, prefix: 5) == [0x1F, 0x9A, 0x0A])
        #expect(encoded(42, prefix: 8) == [42])
    }

    @Test(arguments: 1...8 as ClosedRange<UInt8>)
    func boundaries(prefix: UInt8) {
        let mask = 1 << Int(prefix) - 1
        var values = [0, mask - 1, mask, mask + 1, Int(UInt32.max) - 1, Int(UInt32.max)]
        for bits in [7, 14, 21, 28] {
            values += (-1...1).map { mask + 1 << bits + $0 }
            values += (-1...1).map { 1 << bits + $0 }
        }
        for value in values where value >= 0 {
            let block = encoded(value, prefix: prefix)
            #expect(decoded(block, prefix: prefix) == .success(value), "\(value)")
            for count in 0..<block.count {
                #expect(decoded(Array(block.prefix(count)), prefix: prefix) == .failure(.truncated), "\(value)")
            }
        }
    }

    @Test func theBitsBeforeAreNotPartOfIt() {
        #expect(decoded([0xEA], prefix: 5) == .success(10))
        #expect(decoded([0xFF, 0x9A, 0x0A], prefix: 5) == .success(1337))
    }

    @Test func leadingZerosAreAllowed() {
        #expect(decoded([0x1F, 0x80, 0x80, 0x80, 0x80, 0x00], prefix: 5) == .success(31))
        #expect(decoded([0x1F, 0x81, 0x80, 0x00], prefix: 5) == .success(32))
    }

    @Test func tooLarge() {
        let blocks: [[UInt8]] = [
            encoded(Int(UInt32.max) + 1, prefix: 5),
            encoded(Int.max, prefix: 5),
            [0x1F, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
            [0x1F, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
            [0x1F] + [UInt8](repeating: 0xFF, count: 40),
            [0x1F] + [UInt8](repeating: 0x80, count: 40),
        ]
        for block in blocks { #expect(decoded(block, prefix: 5) == .failure(.integerOverflow), "\(block)") }
    }

    private func encoded(_ value: Int, prefix: UInt8) -> [UInt8] {
        var block = ByteBuilder()
        BlockWriter.append(value, prefix: prefix, flags: 0, to: &block)
        return Array(block.bytes)
    }

    private func decoded(_ block: [UInt8], prefix: UInt8) -> Result<Int, HPACKError.Kind> {
        block.withUnsafeBytes { bytes in
            var reader = BlockReader(bytes)
            do throws(HPACKError.Kind) {
                let value = try reader.readInteger(prefix: prefix)
                return reader.isAtEnd ? .success(value) : .failure(.decoderFailed)
            } catch {
                return .failure(error)
            }
        }
    }
}
