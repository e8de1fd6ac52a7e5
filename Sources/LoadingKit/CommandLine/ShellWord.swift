@_spi(LoadingKitPlugins) import LoadingKitForms
import LoadingKitPrimitives

/// A word of a command line, quoted where a shell requires it.
struct ShellWord {
    let text: String

    init(_ word: String) {
        let plain = word.utf8.allSatisfy { ASCII.isLetterOrDigit($0) || "/._-+,:@".utf8.contains($0) }
        text = plain && !word.isEmpty ? word : Self.quoted(word)
    }

    /// The word in single quotes.
    static func quoted(_ word: String) -> String { ShellQuoting.quoted(word) }

    /// The word in single quotes for fish, where a backslash escapes in them.
    static func fish(_ word: String) -> String {
        ShellQuoting.quoted(word, ["'": "'\\''", "\\": "\\\\"])
    }
}
