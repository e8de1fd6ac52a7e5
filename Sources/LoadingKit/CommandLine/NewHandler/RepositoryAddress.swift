import Foundation

/// The address of a Git repository: a URL, or `user@host:path` in ssh's form.
struct RepositoryAddress: Hashable, Sendable {
    private static let schemes: Set<String> = ["https", "http", "ssh", "git", "file"]

    let text: String

    init(_ text: String) throws(ToolFailure) {
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            throw ToolFailure(.usage, "the repository's URL has a space or control character in it: \(text)")
        }
        if text.contains("://") {
            let scheme = text.prefix { $0 != ":" }.lowercased()
            guard Self.schemes.contains(scheme), URL(string: text) != nil else {
                throw ToolFailure(.usage, "this is no URL of a repository: \(text)")
            }
        }
        let name = Self.lastPart(of: text)
        guard !name.isEmpty, !name.contains(":"), !name.contains("@") else {
            throw ToolFailure(.usage, "the repository's URL has no name at its end: \(text)")
        }
        self.text = text
    }

    /// Whether the text has the form of an address, and not of a path.
    static func isAddress(_ text: String) -> Bool {
        if text.contains("://") { return true }
        guard let at = text.firstIndex(of: "@"), let colon = text.firstIndex(of: ":"), at < colon else { return false }
        return !text[..<colon].contains("/")
    }

    /// The part after the last slash, without `.git`.
    static func lastPart(of place: String) -> String {
        let last = place.split(separator: "/").last.map(String.init) ?? ""
        return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    }
}
