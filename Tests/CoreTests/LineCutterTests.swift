import Foundation
import Testing

@testable import LoadingKitCore

/// Lines of bytes, wherever the pieces are cut.
@Suite struct LineCutterTests {
    /// Byte by byte, as the standard way to read lines has it: what ends a line is looked for behind each byte.
    private static func reference(_ bytes: [UInt8]) -> [String] {
        var lines: [String] = []
        var line: [UInt8] = []
        func isEnd(_ end: [UInt8]) -> Bool { line.suffix(end.count).elementsEqual(end) }
        for byte in bytes {
            line.append(byte)
            let ends: [[UInt8]] = [
                [0x0a], [0x0b], [0x0c], [0x0d], [0xc2, 0x85], [0xe2, 0x80, 0xa8], [0xe2, 0x80, 0xa9],
            ]
            guard let end = ends.first(where: isEnd) else { continue }
            line.removeLast(end.count)
            if !line.isEmpty { lines.append(String(decoding: line, as: UTF8.self)) }
            line = []
        }
        if !line.isEmpty { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    private static func cut(_ pieces: [[UInt8]], limit: Int = .max) throws -> [String] {
        var cutter = LineCutter(limit: limit)
        var lines: [String] = []
        while let line = try cutter.next() { lines.append(line) }
        for piece in pieces {
            cutter.receive(piece)
            while let line = try cutter.next() { lines.append(line) }
        }
        if let last = try cutter.finish() { lines.append(last) }
        return try lines + (cutter.finish().map { [$0] } ?? [])
    }

    static let texts: [[UInt8]] = [
        [], Array("a".utf8), Array("a\nb".utf8), Array("a\r\nb\r\n".utf8), Array("\n\r\n\u{b}\u{c}".utf8),
        Array("a\u{85}b\u{2028}c\u{2029}d\n".utf8), Array("é\u{a8}â\u{20ac}\u{a9}\n\u{85}\n".utf8),
        [0xe2, 0x80, 0xe2, 0x80, 0xa8, 0x61, 0x85, 0xa8, 0xa9, 0xc2, 0x0a, 0xe2, 0x80, 0x0d, 0xa8],
        [0xff, 0xfe, 0x0a, 0xc2, 0xc2, 0x85, 0xe2, 0x80], Array("\r\r\n\n x \u{2028}\u{2028}".utf8),
    ]

    @Test(arguments: texts) func piecesDoNotMatter(_ bytes: [UInt8]) throws {
        let expected = Self.reference(bytes)
        #expect(try Self.cut([bytes]) == expected)
        #expect(try Self.cut(bytes.map { [$0] }) == expected)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let pieces = [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])]
                #expect(try Self.cut(pieces) == expected, "\(first), \(second)")
            }
        }
    }

    @Test func randomBytes() throws {
        var random = SystemRandomNumberGenerator()
        let alphabet: [UInt8] = [0x61, 0x0a, 0x0d, 0x85, 0xc2, 0xe2, 0x80, 0xa8, 0xa9, 0x0b]
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement() ?? 0 }
            let place = Int.random(in: 0...bytes.count, using: &random)
            #expect(
                try Self.cut([Array(bytes[..<place]), Array(bytes[place...])]) == Self.reference(bytes),
                "\(bytes) at \(place)")
        }
    }

    /// However the pieces are cut: at the limit, beyond it, and for limits of 0 and of any number.
    @Test func aLineHasABound() throws {
        for ending in ["", "\n", "\r\n", "\u{85}", "\u{2028}"] {
            let bytes = Array("ab\nabcd\(ending)".utf8)
            for pieces in [[bytes], bytes.map { [$0] }] {
                #expect(try Self.cut(pieces, limit: 4) == ["ab", "abcd"], "\(ending)")
                #expect(try Self.cut(pieces) == ["ab", "abcd"])
                for limit in [0, 1, 3] {
                    let error = #expect(throws: URLError.self) { try Self.cut(pieces, limit: limit) }
                    #expect(error?.code == .dataLengthExceedsMaximum)
                    #expect(error?.localizedDescription.contains("more than \(limit) bytes") == true)
                }
            }
        }
        #expect(try Self.cut([Array("\n\r\n".utf8)], limit: 0) == [])
    }

    /// What has no end is not collected for ever.
    @Test func whatHasNoEndIsBounded() throws {
        var cutter = LineCutter(limit: 1000)
        var received = 0
        let error = #expect(throws: URLError.self) {
            while true {
                cutter.receive([UInt8](repeating: 120, count: 100))
                received += 100
                _ = try cutter.next()
            }
        }
        #expect(error?.code == .dataLengthExceedsMaximum && received == 1100)
    }
}
