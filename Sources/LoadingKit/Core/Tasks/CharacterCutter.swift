/// Divides text that arrives in pieces into characters, which may extend from one piece into the next.
struct CharacterCutter {
    /// The limit for the size of a character in bytes, 64 KiB. A server may send an endless number of marks, all of
    /// which belong to one character. A longer character is divided.
    static let longestCharacter = 1 << 16

    /// The text behind the last boundary that further text cannot move.
    private var open = ""
    private var ready: [Character] = []
    private var place = 0

    mutating func next() -> Character? {
        guard place < ready.count else { return nil }
        defer { place += 1 }
        return ready[place]
    }

    mutating func receive(_ text: String) {
        open += text
        guard let last = open.indices.last else { return }
        let end = open[last...].utf8.count > Self.longestCharacter ? open.endIndex : last
        (ready, place) = (Array(open[..<end]), 0)
        open = String(open[end...])
    }

    mutating func finish() -> Character? { open.isEmpty ? nil : open.removeFirst() }
}
