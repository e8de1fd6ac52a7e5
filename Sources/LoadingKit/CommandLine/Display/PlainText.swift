/// Text that came from elsewhere, made fit for a line of a terminal.
enum PlainText {
    /// Without line breaks, and without control characters, which a terminal would take for commands.
    static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { isControl($0) ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
    }

    /// At most so many characters; the middle is left out.
    static func shortened(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        guard width > 1 else { return String(text.prefix(max(width, 0))) }
        let tail = (width - 1) / 3
        return text.prefix(width - 1 - tail) + "…" + text.suffix(tail)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}
