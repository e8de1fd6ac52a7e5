/// Divides text that arrives in pieces into characters, which may extend from one piece into the next.
struct CharacterCutter {
    /// The limit for the size of a character in bytes, 64 KiB. A server may send an endless number of marks, all of
    /// which belong to one character. A longer character is divided.
    static let longestCharacter = 1 << 16

    /// The text behind the last boundary that further text cannot move.
    private var open = ""
    /// The state of the rules (Unicode Standard Annex #29) at the end of ``open``.
    private var recognizer = Unicode._CharacterRecognizer()
    private var ready: [Character] = []
    private var place = 0
    /// The number of times that ``open`` was divided up to now.
    private(set) var divisions = 0

    mutating func next() -> Character? {
        guard place < ready.count else { return nil }
        defer { place += 1 }
        return ready[place]
    }

    mutating func receive(_ text: String) {
        // A character may come in thousands of pieces: it is not read again for each of them.
        let isContinued = !open.isEmpty && recognize(text)
        open += text
        if !isContinued || open.utf8.count > Self.longestCharacter { divide() }
    }

    /// Advances the rules' state, and returns whether all of the text belongs to the open character.
    private mutating func recognize(_ text: String) -> Bool {
        for scalar in text.unicodeScalars where recognizer.hasBreak(before: scalar) { return false }
        return true
    }

    private mutating func divide() {
        guard let last = open.indices.last else { return }
        divisions += 1
        let end = open[last...].utf8.count > Self.longestCharacter ? open.endIndex : last
        (ready, place) = (Array(open[..<end]), 0)
        open = String(open[end...])
        recognizer = Unicode._CharacterRecognizer()
        for scalar in open.unicodeScalars { _ = recognizer.hasBreak(before: scalar) }
    }

    mutating func finish() -> Character? { open.isEmpty ? nil : open.removeFirst() }
}
