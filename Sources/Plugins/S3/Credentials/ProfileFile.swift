import Foundation

/// A file of profiles, such as `~/.aws/credentials`: sections of names and values. Pure.
///
/// Source: *Shared config and credentials files* of the AWS SDKs and Tools reference guide.
struct ProfileFile: Sendable, Equatable {
    enum Kind: Sendable {
        /// `[name]`
        case credentials
        /// `[profile name]`, and `[default]`; other sections do not contain profiles.
        case config
    }

    /// The reason why a file cannot be parsed; without the file's content, which is secret.
    struct ParseError: Error, Equatable {
        var line: Int
        var reason: String
    }

    /// Properties by profile. Names of properties are in lower case.
    private(set) var profiles: [String: [String: String]] = [:]

    init() {}

    init(_ text: String, _ kind: Kind) throws(ParseError) {
        var profile: String?
        var isInSection = false
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        for (index, line) in lines.enumerated() {
            let isIndented = line.first?.isWhitespace ?? false
            let content = line.trimmingWhitespace()
            if content.isEmpty || content.hasPrefix("#") || content.hasPrefix(";") { continue }
            if content.hasPrefix("[") {
                profile = try Self.section(content, kind, line: index + 1)
                if let profile { profiles[profile, default: [:]].merge([:]) { $1 } }
                isInSection = true
            } else if !isIndented {
                guard isInSection else { throw ParseError(line: index + 1, reason: "a property before any section") }
                let (name, value) = try Self.property(content, line: index + 1)
                if let profile { profiles[profile]?[name] = value }
            }
            // An indented line belongs to a nested property, such as those of `s3 =`: none of them is used here.
        }
    }

    /// Adds the contents of another file, whose properties take precedence over existing ones.
    mutating func merge(_ other: ProfileFile) {
        profiles.merge(other.profiles) { $0.merging($1) { $1 } }
    }

    /// The profile that starts with a section's line; nil for a section of another kind.
    private static func section(
        _ content: some StringProtocol, _ kind: Kind, line: Int
    ) throws(ParseError) -> String? {
        guard let end = content.firstIndex(of: "]") else { throw ParseError(line: line, reason: "a section without ]") }
        let rest = content[content.index(after: end)...].trimmingWhitespace()
        guard rest.isEmpty || rest.hasPrefix("#") || rest.hasPrefix(";") else {
            throw ParseError(line: line, reason: "text behind a section's ]")
        }
        let words = String(content[..<end].dropFirst()).split { $0 == " " || $0 == "\t" }.map { String($0) }
        switch kind {
        case .credentials:
            guard words.count == 1 else {
                throw ParseError(line: line, reason: "a section whose name is not the name of a profile")
            }
            return words.first
        case .config:
            if words == ["default"] { return "default" }
            return words.count == 2 && words.first == "profile" ? words.last : nil
        }
    }

    private static func property(
        _ content: some StringProtocol, line: Int
    ) throws(ParseError) -> (name: String, value: String) {
        guard let equals = content.firstIndex(of: "="), equals != content.startIndex else {
            throw ParseError(line: line, reason: "a line that is neither section, property nor comment")
        }
        let name = content[..<equals].trimmingWhitespace().lowercased()
        let value = String(content[content.index(after: equals)...])
        return (name, withoutComment(value).trimmingWhitespace())
    }

    /// A comment starts after white space: keys may contain `#`.
    private static func withoutComment(_ value: String) -> String {
        var isBehindSpace = true
        for index in value.indices {
            let character = value[index]
            if isBehindSpace, character == "#" || character == ";" { return String(value[..<index]) }
            isBehindSpace = character == " " || character == "\t"
        }
        return value
    }
}

extension StringProtocol {
    /// The text without white space at its ends.
    func trimmingWhitespace() -> String { trimmingCharacters(in: .whitespaces) }
}
