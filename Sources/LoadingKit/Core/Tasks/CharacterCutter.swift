/// Cuts text that comes in pieces into characters, which may reach from one piece into the next.
struct CharacterCutter {
    /// A server may send marks without end, all of which belong to one character. One that is longer is cut: 64 KiB.
    static let longestCharacter = 1 << 16

    /// Behind the last boundary that more text cannot move.
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
