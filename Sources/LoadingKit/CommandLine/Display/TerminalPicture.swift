/// Lines on a terminal that are shown in the place of those before.
struct TerminalPicture {
    /// How many lines are shown.
    private var lineCount = 0

    /// What a terminal is sent to show these lines. A line that is too wide all the same, as some characters have two columns, is
    /// cut off, so that the next picture begins where this one does.
    mutating func replace(by text: String) -> String {
        // ECMA-48: cursor up, erase to the end of the display. DEC: no automatic wrap.
        let start = lineCount > 0 ? "\r\u{1b}[\(lineCount)A\u{1b}[J" : ""
        lineCount = text.count { $0 == "\n" }
        return start + "\u{1b}[?7l" + text + "\u{1b}[?7h"
    }
}
