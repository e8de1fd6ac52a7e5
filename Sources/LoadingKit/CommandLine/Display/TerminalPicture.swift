/// Lines on a terminal that replace those displayed before.
struct TerminalPicture {
    /// The number of displayed lines.
    private var lineCount = 0

    /// The terminal output that displays these lines. A line that is still too wide, because some characters have two
    /// columns, is cut off, so that the next picture begins at the same place as this one.
    mutating func replace(by text: String) -> String {
        // ECMA-48: cursor up, erase to the end of the display. DEC: no automatic wrap.
        let start = lineCount > 0 ? "\r\u{1b}[\(lineCount)A\u{1b}[J" : ""
        lineCount = text.count { $0 == "\n" }
        return start + "\u{1b}[?7l" + text + "\u{1b}[?7h"
    }
}
