/// Quotes words for a POSIX shell's command line.
enum ShellQuoting {
    /// The text as one word, which the shell does not interpret. It must not contain NUL, which no argument can have.
    static func word(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
        // Within apostrophes only the apostrophe is special.
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "-._/:@%+,=".utf8.contains(byte)
        }
    }
}
