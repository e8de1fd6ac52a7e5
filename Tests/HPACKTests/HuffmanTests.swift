import TestSupport
import Testing

@testable import LoadingKitHPACK

/// Huffman-coded strings (RFC 7541 §5.2).
@Suite struct HuffmanTests {
    /// Each byte, alone and among others at each place within a byte of the coded string.
    @Test func everyByte() {
        for byte in 0...UInt8.max {
            for before in 0..<8 {
                for after in 0..<3 {
                    // "0" has a code of 5 bits, "%" one of 6.
                    let string =
                        [UInt8](repeating: 0x30, count: before) + [byte]
                        + [UInt8](repeating: 0x25, count: after)
                    if decoded(encoded(string)) != .success(string) { Issue.record("\(byte) \(before) \(after)") }
                }
            }
        }
    }

    @Test func everyPairOfBytes() {
        for first in 0...UInt8.max {
            for second in 0...UInt8.max where decoded(encoded([first, second])) != .success([first, second]) {
                Issue.record("\(first) \(second)")
            }
        }
    }

    @Test func longStrings() {
        var generator = SeededGenerator(seed: 7)
        for count in [0, 1, 100, 1000, 5000] {
            let string = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let text = (0..<count).map { _ in UInt8.random(in: 0x20...0x7E, using: &generator) }
            #expect(decoded(encoded(string)) == .success(string))
            #expect(decoded(encoded(text)) == .success(text))
        }
    }

    /// Codes of appendix B, of each kind of length.
    @Test func codes() {
        let cases: [(UInt8, UInt64, UInt64)] = [
            (0x30, 0x0, 5), (0x20, 0x14, 6), (0x3A, 0x5C, 7), (0x26, 0xF8, 8), (0x21, 0x3F8, 10), (0x27, 0x7FA, 11),
            (0x23, 0xFFA, 12), (0x00, 0x1FF8, 13), (0x5E, 0x3FFC, 14), (0x3C, 0x7FFC, 15), (0x5C, 0x7FFF0, 19),
            (0x80, 0xFFFE6, 20), (0x99, 0x1F_FFDC, 21), (0x81, 0x3F_FFD2, 22), (0x01, 0x7F_FFD8, 23),
            (0x09, 0xFF_FFEA, 24), (0xC7, 0x1FF_FFEC, 25), (0xC0, 0x3FF_FFE0, 26), (0xCB, 0x7FF_FFDE, 27),
            (0x02, 0xFFF_FFE2, 28), (0x0A, 0x3FFF_FFFC, 30), (0x16, 0x3FFF_FFFE, 30), (0xFF, 0x3FF_FFEE, 26),
        ]
        for (byte, code, length) in cases {
            #expect(HuffmanTable.shared.pointee.codes[Int(byte)] == code << 8 | length, "\(byte)")
        }
    }

    @Test func padding() {
        // "0" has the code 00000, "a" 00011.
        let cases: [([UInt8], Result<[UInt8], HPACKError.Kind>)] = [
            ([], .success([])),
            ([0b0000_0111], .success([0x30])),
            ([0b0000_0110], .failure(.invalidPadding)),
            ([0b0000_0011], .failure(.invalidPadding)),
            ([0b0001_1111], .success([0x61])),
            ([0b0001_1111, 0xFF], .failure(.invalidPadding)),
            ([0xFF], .failure(.invalidPadding)),
            ([0xFF, 0xFF], .failure(.invalidPadding)),
            ([0xFF, 0xFF, 0xFF], .failure(.invalidPadding)),
            ([0xFE], .failure(.invalidPadding)),
            // "&" has the code 11111000, ":" 1011100.
            ([0b1111_1000], .success([0x26])),
            ([0b1111_1000, 0xFF], .failure(.invalidPadding)),
            ([0b1011_1001], .success([0x3A])),
            ([0b1011_1000], .failure(.invalidPadding)),
        ]
        for (string, result) in cases { #expect(decoded(string) == result, "\(string)") }
    }

    @Test func endOfString() {
        #expect(decoded([0xFF, 0xFF, 0xFF, 0xFF]) == .failure(.endOfStringSymbol))
        #expect(decoded([0xFF, 0xFF, 0xFF, 0xFC]) == .failure(.endOfStringSymbol))
        #expect(decoded([0b0000_0111, 0xFF, 0xFF, 0xFF, 0xFF]) == .failure(.endOfStringSymbol))
        // The code of 22 differs from that of EOS in its last bit.
        #expect(decoded([0xFF, 0xFF, 0xFF, 0b1111_1011]) == .success([22]))
    }

    @Test func everyStringOfTwoBytesIsDecodedOrRefused() {
        var accepted = 0
        for value in 0...UInt16.max {
            let string = [UInt8(value >> 8), UInt8(value & 0xFF)]
            if case .success(let bytes) = decoded(string) {
                accepted += 1
                // There is one way only to code a string.
                if encoded(bytes) != string { Issue.record("\(string)") }
            }
        }
        #expect(accepted > 0)
    }

    private func encoded(_ string: [UInt8]) -> [UInt8] {
        var block = ByteBuilder()
        let codes = HuffmanTable.shared.pointee.codes
        string.withUnsafeBytes {
            HuffmanEncoder.append($0, codes, count: HuffmanEncoder.count($0, codes), to: &block)
        }
        return Array(block.bytes)
    }

    /// The bytes that follow a string in its block can be read, and change nothing.
    @Test func whatFollowsIsNoPartOfTheString() {
        var generator = SeededGenerator(seed: 11)
        for count in 0..<40 {
            let text = (0..<count).map { _ in UInt8.random(in: 0x20...0x7E, using: &generator) }
            let string = encoded(text)
            for behind in [0, 1, 7, 8, 20] {
                for byte: UInt8 in [0, 0x55, 0xFF] {
                    let block = string + [UInt8](repeating: byte, count: behind)
                    if decoded(block, count: string.count) != .success(text) { Issue.record("\(count) \(behind)") }
                    let cut = Array(block.dropFirst())
                    guard !string.isEmpty else { continue }
                    if decoded(cut, count: string.count - 1) != decoded(Array(string.dropFirst())) {
                        Issue.record("\(count) \(behind), cut")
                    }
                }
            }
        }
    }

    private func decoded(_ string: [UInt8]) -> Result<[UInt8], HPACKError.Kind> { decoded(string, count: string.count) }

    /// The first `count` bytes of a block, decoded into no more room than they need.
    private func decoded(_ block: [UInt8], count: Int) -> Result<[UInt8], HPACKError.Kind> {
        var output = [UInt8](repeating: 0, count: HuffmanDecoder.room(encoded: count))
        return block.withUnsafeBytes { bytes in
            output.withUnsafeMutableBytes {
                HuffmanDecoder.decode(
                    UnsafeRawBufferPointer(rebasing: bytes[..<count]), HuffmanTable.shared,
                    followedBy: block.count - count, to: $0)
            }
        }.map { Array(output.prefix($0)) }
    }
}
