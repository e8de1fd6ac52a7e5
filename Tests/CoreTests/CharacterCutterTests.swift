import Testing

@testable import LoadingKitCore

/// UTF-8 and characters that come in pieces.
@Suite struct CharacterCutterTests {
    static let texts: [[UInt8]] = [
        [], Array("a".utf8), Array("äöü€😀".utf8), Array("e\u{301}\u{302}x".utf8), Array("👨‍👩‍👧‍👦🇩🇪🇫🇷!".utf8),
        Array("\u{1100}\u{1161}\u{11a8}\u{915}\u{94d}\u{937}\u{600}a\n\u{301}".utf8),
        Array("a\r\nb\r\rc\n".utf8), [0xff, 0x61, 0xc3], [0xe2, 0x82], [0xe2, 0x82, 0x61], [0xf0, 0x9f, 0x98],
        [0xf0, 0x9f, 0x98, 0xf0, 0x9f, 0x98, 0x80], [0xc0, 0xaf, 0xed, 0xa0, 0x80, 0xf4, 0x90, 0x80, 0x80],
        [0x80, 0x80, 0x80, 0x80, 0xe0, 0x80, 0xe0, 0xa0], [0xf5, 0xc1, 0xc2, 0xc2, 0xa9],
    ]

    private static func decoded(_ pieces: [[UInt8]]) -> (scalars: [Unicode.Scalar], characters: [Character]) {
        var text = UTF8Pieces()
        var cutter = CharacterCutter()
        var (scalars, characters): ([Unicode.Scalar], [Character]) = ([], [])
        func take() { while let character = cutter.next() { characters.append(character) } }
        for piece in pieces.map({ text.receive($0) }) + [text.finish()] {
            scalars += Array(piece.unicodeScalars)
            cutter.receive(piece)
            take()
        }
        while let last = cutter.finish() { characters.append(last) }
        return (scalars, characters)
    }

    @Test(arguments: texts) func theCutsDoNotMatter(bytes: [UInt8]) {
        let whole = String(decoding: bytes, as: UTF8.self)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let made = Self.decoded([Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])])
                #expect(made.scalars == Array(whole.unicodeScalars) && made.characters == Array(whole))
            }
        }
        let single = Self.decoded(bytes.map { [$0] })
        #expect(single.scalars == Array(whole.unicodeScalars) && single.characters == Array(whole))
    }

    /// Marks, a sequence of emoji, and Hangul: the character is not divided before its end, which the last piece shows.
    @Test(arguments: ["\u{301}", "\u{1f469}\u{200d}", "\u{1100}"])
    func aCharacterInManyPiecesIsReadOnce(piece: String) {
        let count = CharacterCutter.longestCharacter / piece.utf8.count
        var cutter = CharacterCutter()
        for _ in 0..<count {
            cutter.receive(piece)
            if cutter.next() != nil { Issue.record("the character was divided") }
        }
        #expect(cutter.divisions == 1)
        cutter.receive("x")
        let whole = cutter.next().map { Array($0.unicodeScalars) }
        #expect(whole == Array(String(repeating: piece, count: count).unicodeScalars))
        let (further, last) = (cutter.next(), cutter.finish())
        #expect(further == nil && last == "x" && cutter.divisions == 2)
    }

    @Test func aCharacterWithoutEndIsCut() {
        let marks = Array(String(repeating: "\u{301}", count: 1000).utf8)
        let pieces = [Array("e".utf8)] + Array(repeating: marks, count: 200)
        let characters = Self.decoded(pieces).characters
        #expect(characters.count > 1)
        #expect(characters.allSatisfy { $0.utf8.count <= CharacterCutter.longestCharacter + marks.count })
        #expect(characters.reduce(0) { $0 + $1.utf8.count } == 1 + 200 * marks.count)
    }
}
