/// A source whose imports of FoundationNetworking are those of LoadingKit. Where a file compiles on other platforms too, they keep theirs.
struct AdoptedSource {
    struct Note: Hashable {
        let line: Int
        let text: String
    }

    private(set) var text: String
    private(set) var changes: [Note] = []
    /// Places that someone has to look at.
    private(set) var remarks: [Note] = []
    /// LoadingKit is imported: on each platform, or under a condition.
    private(set) var importsAlways = false
    private(set) var importsOnCondition = false

    private var open: [ConditionalBlock] = []
    private var lines: [String] = []
    private let rules = AdoptionRule.all

    init(_ source: String) {
        let hasCarriageReturns = source.contains("\r\n")
        text = source.replacing("\r\n", with: "\n")
        let blanked = BlankedSource(text)
        let code = BlankedSource.lines(blanked.code)
        let literals = BlankedSource.lines(blanked.literals)
        for (index, line) in BlankedSource.lines(Array(text.utf8)).enumerated() {
            readCondition(code[index])
            let next = index + 1 < code.count ? code[index + 1] : ""
            adopt(line, code[index], index + 1, isLast: next.trimmed.hasPrefix("#e"))
            remark(literals[index], index + 1)
        }
        text = lines.joined(separator: hasCarriageReturns ? "\r\n" : "\n")
    }

    private mutating func readCondition(_ code: String) {
        guard code.contains("#"), let match = code.firstMatch(of: /^\s*#(if|elseif|else|endif)\b(.*)/) else { return }
        let condition = String(match.2).trimmed
        switch match.1 {
        case "if": open.append(ConditionalBlock(condition))
        case "endif": _ = open.popLast()
        case _: if !open.isEmpty { open[open.count - 1].enter(match.1 == "else" ? nil : condition) }
        }
    }

    private mutating func adopt(_ line: String, _ code: String, _ number: Int, isLast: Bool) {
        let form =
            /^(\s*)((?:@\w+(?:\([^)]*\))?\s+)*(?:\w+\s+)?import\s+(?:(?:class|struct|enum|protocol|func|typealias|let|var)\s+)?)(FoundationNetworking|LoadingKit)\b/
        guard code.contains("FoundationNetworking") || code.contains("LoadingKit"),
            let match = code.firstMatch(of: form.wordBoundaryKind(.simple))
        else {
            lines.append(adoptNames(line, code, number))
            return
        }
        let isOnLinux = open.allSatisfy { $0.isLinux == true }
        guard match.3 == "FoundationNetworking", !open.contains(where: { $0.isLinux == false }) else {
            if match.3 == "LoadingKit" { noteImport(always: open.isEmpty) }
            lines.append(line)
            return
        }
        let adopted = line.replacingFirst("FoundationNetworking", with: "LoadingKit")
        noteImport(always: open.isEmpty)
        if isOnLinux {
            lines.append(adopted)
        } else if isLast, lines.last?.trimmed == "#if canImport(FoundationNetworking)" {
            let condition = lines.removeLast()
            lines += [
                condition.replacingFirst("canImport(FoundationNetworking)", with: "os(Linux)"), adopted,
                condition.replacingFirst("#if", with: "#elseif"), line,
            ]
        } else {
            let indent = String(match.1)
            lines += [indent + "#if os(Linux)", adopted, indent + "#else", line, indent + "#endif"]
        }
        changes.append(Note(line: number, text: adopted.trimmed + (isOnLinux ? "" : " (on Linux)")))
    }

    private mutating func noteImport(always: Bool) {
        if always { importsAlways = true } else { importsOnCondition = true }
    }

    /// Replaces names that are qualified by the module's, outside conditional code.
    private mutating func adoptNames(_ line: String, _ code: String, _ number: Int) -> String {
        guard code.contains("FoundationNetworking"), !code.contains("canImport(FoundationNetworking)") else {
            return line
        }
        guard open.allSatisfy({ $0.isLinux == true }), importsAlways, line == code,
            code.contains("FoundationNetworking.")
        else {
            if !open.contains(where: { $0.isLinux == false }) {
                remarks.append(Note(line: number, text: "names FoundationNetworking, and is not changed"))
            }
            return line
        }
        changes.append(Note(line: number, text: "names that are qualified by the module"))
        return line.replacing("FoundationNetworking.", with: "LoadingKit.")
    }

    private mutating func remark(_ code: String, _ number: Int) {
        for rule in rules where code.contains(rule.word) && code.contains(rule.pattern) {
            remarks.append(Note(line: number, text: rule.text))
        }
    }
}

/// An `#if` up to its `#endif`: whether the current branch is compiled on Linux; nil where that is not known.
private struct ConditionalBlock {
    private(set) var isLinux: Bool?
    private var hadLinux = false
    private var isElseLinux = false

    init(_ condition: String) { enter(condition) }

    /// - Parameter condition: nil for `#else`.
    mutating func enter(_ condition: String?) {
        if isLinux == true { hadLinux = true }
        switch condition {
        case _ where hadLinux: isLinux = false
        case nil: isLinux = isElseLinux ? true : nil
        case "os(Linux)", "canImport(LoadingKit)": isLinux = true
        case "!os(Linux)": (isLinux, isElseLinux) = (false, true)
        case let other?:
            let elsewhere = /os\((macOS|iOS|tvOS|watchOS|visionOS|Windows)\)|canImport\((Darwin|ObjectiveC)\)/
            isLinux = other.wholeMatch(of: elsewhere) == nil ? nil : false
        }
    }
}

extension String {
    var trimmed: String { trimmingPrefix { $0.isWhitespace }.description.droppingTrailingSpaces }

    private var droppingTrailingSpaces: String {
        String(self[..<(lastIndex { !$0.isWhitespace }.map(index(after:)) ?? startIndex)])
    }

    func replacingFirst(_ word: String, with other: String) -> String {
        replacing(word, with: other, maxReplacements: 1)
    }
}

/// A use that behaves differently (Migrating.md), or that LoadingKit does not have.
private struct AdoptionRule {
    /// Each line with the use has this word. It is found faster than the pattern.
    let word: String
    let pattern: Regex<AnyRegexOutput>
    let text: String

    init(_ word: String, _ pattern: Regex<some Any>, _ text: String) {
        (self.word, self.text) = (word, text)
        // A dot between letters is a boundary.
        self.pattern = Regex<AnyRegexOutput>(pattern).wordBoundaryKind(.simple)
    }

    static var all: [AdoptionRule] {
        [
            AdoptionRule(
                "\"http://", /"http:\/\/(?!localhost|127\.|10\.|192\.168\.|[^"\/:]*\.local\b)[^"\/:]*\./,
                "plain http to other machines fails with -1022: https, or configuration.appTransportSecurity"),
            AdoptionRule(
                "URLProtocol", /\bclass\s+\w+\s*:(?!.*Sendable).*\bURLProtocol\b/,
                "a subclass of URLProtocol restates @unchecked Sendable"),
            AdoptionRule(
                "CF", /\bimport\s+CFNetwork\b|\bCF(HTTP|FTP)\w+|\bCFNetwork[A-Z]/, "LoadingKit has no CFNetwork"),
            AdoptionRule(
                "N", /\bNSURLConnection\b|\bNSURLDownload\b|\bNetService\b/,
                "LoadingKit does not have this class: sessions and tasks take its place"),
            AdoptionRule(
                ".observe(", /\.observe\(\\(URLSession\w*)?\.(state|progress|countOf\w+|fractionCompleted)/,
                "Linux has no KVO: a delegate's methods, or reading URLSessionTask.progress"),
            AdoptionRule(
                "(contentsOf:", /\(contentsOf:\s*URL\(string:/,
                "Foundation loads this itself, and http only with FoundationNetworking: load it with a session"),
            AdoptionRule("closeCode", /\bswitch\b.*\bcloseCode\b/, "a switch over close codes needs a default"),
        ]
    }
}
