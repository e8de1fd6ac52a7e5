/// A text for a terminal, made of pieces from other sources, which are escaped and painted.
struct ScreenText {
    /// A display that would be larger is not laid out: indentation can be far larger than the text.
    private static let largest = 1 << 24

    let usesColour: Bool
    private(set) var bytes: [UInt8] = []

    init(usesColour: Bool) { self.usesColour = usesColour }

    var isTooLarge: Bool { bytes.count > Self.largest }

    mutating func add(_ piece: ArraySlice<UInt8>, _ style: Terminal.Style? = nil) {
        let shown = VisibleText.escaped(piece)
        guard usesColour, let style, !shown.isEmpty else { return bytes += shown }
        bytes += Terminal.start(of: style).utf8 + shown + Terminal.styleEnd.utf8
    }

    /// Begins a line, with two spaces for each level.
    mutating func beginLine(_ level: Int) {
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: 2 * level)
    }
}
