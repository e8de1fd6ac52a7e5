import Foundation

/// The display capabilities of a file descriptor.
struct Terminal: Sendable, Hashable {
    static let defaultWidth = 80
    /// No terminal.
    static let plain = Terminal(isTerminal: false)

    let isTerminal: Bool
    /// Columns.
    let width: Int
    /// Lines; nil for an unlimited number.
    let height: Int?
    let usesColour: Bool

    init(isTerminal: Bool, width: Int = Self.defaultWidth, height: Int? = nil, usesColour: Bool = false) {
        self.isTerminal = isTerminal
        self.width = width
        self.height = height
        self.usesColour = usesColour
    }

    init(_ descriptor: Int32, _ environment: [String: String] = ProcessInfo.processInfo.environment) {
        let isTerminal = isatty(descriptor) == 1
        let size = isTerminal ? Self.size(descriptor) : winsize()
        self.init(
            isTerminal: isTerminal, width: size.ws_col > 0 ? Int(size.ws_col) : Self.defaultWidth,
            height: size.ws_row > 0 ? Int(size.ws_row) : nil,
            usesColour: isTerminal && Self.allowsColour(environment))
    }

    /// https://no-color.org: any non-empty value.
    static func allowsColour(_ environment: [String: String]) -> Bool {
        (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// A size of 0 means unknown.
    private static func size(_ descriptor: Int32) -> winsize {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : winsize()
    }

    /// A colour or weight of ECMA-48's SGR.
    enum Style: Int {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
        case blue = 34
        case magenta = 35
        case cyan = 36
    }

    static func start(of style: Style) -> String { "\u{1b}[\(style.rawValue)m" }
    static let styleEnd = "\u{1b}[0m"

    func paint(_ text: String, _ style: Style) -> String {
        usesColour && !text.isEmpty ? Self.start(of: style) + text + Self.styleEnd : text
    }

    /// The same terminal with the colours that the user chose.
    func with(_ choice: ColourChoice) -> Terminal {
        let usesColour = choice == .auto ? self.usesColour : choice == .always
        return Terminal(isTerminal: isTerminal, width: width, height: height, usesColour: usesColour)
    }
}

/// The values of `--color`.
enum ColourChoice: String, CaseIterable, Sendable {
    /// Colours for a terminal that has them.
    case auto
    case always
    case never
}

/// Makes text from other sources safe for a line of a terminal.
enum PlainText {
    /// The text on one line, with escapes for what a terminal would interpret as commands.
    static func line(_ text: String) -> String {
        String(decoding: VisibleText.escaped(Array(text.utf8)[...], keepsLines: false), as: UTF8.self)
    }
}

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
