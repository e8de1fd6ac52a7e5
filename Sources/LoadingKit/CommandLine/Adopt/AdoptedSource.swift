/// A source whose imports of FoundationNetworking are those of LoadingKit. Where a file compiles on other platforms too, they keep theirs.
struct AdoptedSource {
    struct Note: Hashable {
        let line: Int
        let text: String
    }

    private(set) var changes: [Note] = []
    /// Places that someone has to look at, where the file imports LoadingKit.
    private(set) var remarks: [Note] = []
    /// Code that is compiled, or left out, where FoundationNetworking can be imported.
    private(set) var questions: [Note] = []
    /// LoadingKit is imported: on each platform, or under a condition.
    private(set) var importsAlways = false
    private(set) var importsOnCondition = false
    /// Other files of the module need no import.
    private(set) var exportsImport = false
    /// The types of FoundationNetworking that are used on Linux, and that the file declares itself.
    private(set) var used: Set<String> = []
    private(set) var declared: Set<String> = []

    /// Whether the last line, which nothing ends, has a CR as the line before it.
    private let addsReturn: Bool
    private var open: [ConditionalBlock] = []
    /// Without their LF, and with the CR before it.
    private var lines: [String] = []
    private var imports: AdoptedImports?
    /// The line of the first `import Foundation` without a condition.
    private var foundation: (index: Int, number: Int)?
    private let rules = AdoptionRule.all

    init(_ source: String) {
        var originals = BlankedSource.lines(Array(source.utf8))
        addsReturn = originals.dropLast().last?.lineEnd == "\r"
        if addsReturn { originals[originals.count - 1] += "\r" }
        let blanked = BlankedSource(source.replacing("\r\n", with: "\n"))
        let code = BlankedSource.lines(blanked.code)
        let literals = BlankedSource.lines(blanked.literals)
        for (index, line) in originals.enumerated() {
            readCondition(code[index])
            adopt(line, code[index], index + 1)
            remark(literals[index], index + 1)
        }
        writeImports(isLast: false)
    }

    var text: String { String(lines.joined(separator: "\n").dropLast(addsReturn ? 1 : 0)) }

    /// Whether the file imports Foundation alone, and uses types that come from another module on Linux.
    func needsImport(declaredElsewhere: Set<String>) -> Bool {
        !importsAlways && !importsOnCondition && foundation != nil && !used.subtracting(declaredElsewhere).isEmpty
    }

    /// Adds an import of LoadingKit on Linux behind that of Foundation.
    mutating func addImport() {
        guard let (index, number) = foundation else { return }
        let adopted = lines[index].replacingFirst("Foundation", with: "LoadingKit")
        let end = adopted.lineEnd
        lines.insert(contentsOf: ["#if os(Linux)\(end)", adopted, "#endif\(end)"], at: index + 1)
        changes.append(Note(line: number, text: "\(adopted.trimmed) (added, on Linux)"))
        changes.sort { $0.line < $1.line }
        importsOnCondition = true
        foundation = nil
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

    private mutating func adopt(_ line: String, _ code: String, _ number: Int) {
        let form =
            /^(\s*)((?:@\w+(?:\([^)]*\))?\s+)*(?:\w+\s+)?import\s+(?:(?:class|struct|enum|protocol|func|typealias|let|var)\s+)?)(Foundation(?:Networking)?|LoadingKit)\b/
        guard code.contains("import"), let match = code.firstMatch(of: form.wordBoundaryKind(.simple)) else {
            return adoptCode(line, code, number)
        }
        let isElsewhere = open.contains { $0.isLinux == false }
        guard match.3 == "FoundationNetworking", !isElsewhere else {
            writeImports(isLast: false)
            if match.3 == "LoadingKit" { noteImport(code) }
            if code.trimmed.hasSuffix("import Foundation"), open.isEmpty, foundation == nil {
                foundation = (lines.count, number)
            }
            lines.append(line)
            return
        }
        let adopted = line.replacingFirst("FoundationNetworking", with: "LoadingKit")
        noteImport(code)
        let isOnLinux = open.allSatisfy { $0.isLinux == true }
        if isOnLinux {
            writeImports(isLast: false)
            lines.append(adopted)
        } else if imports == nil {
            imports = AdoptedImports(adopted, original: line, indent: match.1)
        } else {
            imports?.append(adopted, original: line)
        }
        changes.append(Note(line: number, text: adopted.trimmed + (isOnLinux ? "" : " (on Linux)")))
    }

    private mutating func writeImports(isLast: Bool) {
        imports.take()?.write(to: &lines, isLast: isLast)
    }

    /// A line that imports nothing of what is replaced.
    private mutating func adoptCode(_ line: String, _ code: String, _ number: Int) {
        let isDirective = code.trimmed.hasPrefix("#")
        writeImports(isLast: isDirective && code.trimmed.hasPrefix("#e"))
        lines.append(adoptNames(line, code, number))
        guard !isDirective, !code.trimmed.isEmpty, !code.contains(/\bimport\s/) else { return }
        declared.formUnion(LoadingNames.declared(in: code))
        if !open.contains(where: { $0.isLinux == false }) { used.formUnion(LoadingNames.used(in: code)) }
        for index in open.indices.reversed() where open[index].takeQuestion() {
            let text =
                "depends on FoundationNetworking, not on LoadingKit: code for Apple's systems usually works with LoadingKit"
            questions.append(Note(line: number, text: text))
        }
    }

    private mutating func noteImport(_ code: String) {
        if open.isEmpty { importsAlways = true } else { importsOnCondition = true }
        if code.contains("@_exported") { exportsImport = true }
    }

    /// Replaces names that are qualified by the module's, outside conditional code.
    private mutating func adoptNames(_ line: String, _ code: String, _ number: Int) -> String {
        guard code.contains("FoundationNetworking"), !code.contains("canImport(FoundationNetworking)") else {
            return line
        }
        guard open.allSatisfy({ $0.isLinux == true }), importsAlways, line == code + line.lineEnd,
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

extension String {
    /// The CR at the end of a line without its LF; empty where there is none.
    var lineEnd: String { unicodeScalars.last == "\r" ? "\r" : "" }

    var trimmed: String { trimmingPrefix { $0.isWhitespace }.description.droppingTrailingSpaces }

    private var droppingTrailingSpaces: String {
        String(self[..<(lastIndex { !$0.isWhitespace }.map(index(after:)) ?? startIndex)])
    }

    func replacingFirst(_ word: String, with other: String) -> String {
        replacing(word, with: other, maxReplacements: 1)
    }
}
