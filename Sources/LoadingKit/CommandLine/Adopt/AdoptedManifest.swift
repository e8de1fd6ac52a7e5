/// A manifest to which a package and its product are added as text. The parts that it does not understand are said, and stay.
struct AdoptedManifest {
    private(set) var text: String
    private(set) var changes: [String] = []
    /// The parts that someone has to add by hand.
    private(set) var remarks: [String] = []

    /// A target that the manifest lists.
    struct Target: Hashable {
        let name: String
        /// The folders, in the package's, in which SwiftPM looks for its sources.
        let folders: [String]
    }

    let targets: [Target]

    /// The oldest version of the tools that knows the forms of what is added.
    private static let oldestVersion = ToolsVersion(major: 5, minor: 5)

    init(_ text: String) {
        self.text = text
        let source = ManifestText(text)
        targets = source.targetCalls.compactMap { call in
            guard let name = source.string(source.argument("name", in: call)) else { return nil }
            let path = source.string(source.argument("path", in: call))
            let parents = ["Sources", "Source", "src", "srcs", "Tests"]
            let folder = path.map { $0.split(separator: "/").filter { $0 != "." }.joined(separator: "/") }
            return Target(name: name, folders: folder.map { [$0] } ?? parents.map { "\($0)/\(name)" })
        }
    }

    /// - Parameter target: the target's name, and whether it imports LoadingKit on Linux alone.
    mutating func add(_ source: LoadingKitSource, to targets: [(name: String, isOnLinux: Bool)]) {
        for target in targets {
            let condition = target.isOnLinux ? ", condition: .when(platforms: [.linux])" : ""
            let product = ".product(name: \"LoadingKit\", package: \(SourceText.literal(source.identity))\(condition))"
            add(product, to: "target \(target.name)", after: "name", known: ["\"LoadingKit\""]) { text in
                text.targetCalls.first { text.string(text.argument("name", in: $0)) == target.name }
            }
        }
        let known = ["/LoadingKit\"", "/LoadingKit.git\"", source.dependency]
        add(source.dependency, to: "the package", before: "targets", known: known) { $0.packageCall }
        if !changes.isEmpty, ToolsVersion(manifest: text) < Self.oldestVersion {
            remarks.append("set its swift-tools-version to \(Self.oldestVersion) or newer")
        }
    }

    /// Adds an element to the array `dependencies` of a call, and the array where there is none.
    private mutating func add(
        _ element: String, to place: String, after previous: String? = nil, before next: String? = nil, known: [String],
        in find: (ManifestText) -> Range<Int>?
    ) {
        let source = ManifestText(text)
        let call = find(source)
        if let call, let array = source.argument("dependencies", in: call) {
            let text = source.withLists(array)
            if known.contains(where: text.contains) { return }
            guard let edited = source.appending(element, to: array) else { return leave(element, place) }
            self.text = edited
        } else if let call, let previous, let argument = source.argument(previous, in: call) {
            text = source.inserting(", dependencies: [\(element)]", at: argument.upperBound)
        } else if let call, let next, let label = source.label(next, in: call) {
            let indent = source.indent(of: label)
            let isAlone = source.startsLine(label)
            let separator = isAlone ? "\n\(indent)" : " "
            let inner = isAlone ? "\n\(indent)    \(element)\n\(indent)" : element
            text = source.inserting("dependencies: [\(inner)],\(separator)", at: label)
        } else {
            return leave(element, place)
        }
        changes.append("\(place): \(element)")
    }

    private mutating func leave(_ element: String, _ place: String) {
        remarks.append("add to the dependencies of \(place) by hand: \(element)")
    }
}

/// The text of a manifest, with the positions of calls and their arguments.
private struct ManifestText {
    private let bytes: [UInt8]
    private let code: [UInt8]

    init(_ text: String) { (bytes, code) = (Array(text.utf8), BlankedSource(text).code) }

    func original(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The arguments of `Package(…)`.
    var packageCall: Range<Int>? { calls(of: "Package", in: code.indices).first }

    /// The arguments of the targets that the package lists itself.
    var targetCalls: [Range<Int>] {
        guard let call = packageCall, let targets = argument("targets", in: call) else { return [] }
        return [".target", ".executableTarget", ".testTarget"].flatMap { calls(of: $0, in: targets) }
            .filter { depth(at: $0.lowerBound, in: targets) == 2 }.sorted { $0.lowerBound < $1.lowerBound }
    }

    private func calls(of name: String, in range: Range<Int>) -> [Range<Int>] {
        let word = Array("\(name)(".utf8)
        return range.compactMap { start in
            guard start + word.count <= range.upperBound, code[start..<start + word.count].elementsEqual(word),
                start == 0 || !Self.isName(code[start - 1]), let end = end(from: start + word.count)
            else { return nil }
            return start + word.count..<end
        }
    }

    private static func isName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || Character(Unicode.Scalar(byte)).isLetter || (48...57).contains(byte)
    }

    private static func step(_ byte: UInt8) -> Int {
        "([{".utf8.contains(byte) ? 1 : ")]}".utf8.contains(byte) ? -1 : 0
    }

    private func depth(at index: Int, in range: Range<Int>) -> Int {
        code[range.lowerBound..<index].reduce(0) { $0 + Self.step($1) }
    }

    /// The bracket or comma that ends what begins at an index.
    private func end(from start: Int, atComma: Bool = false) -> Int? {
        var depth = 0
        for index in start..<code.count {
            if atComma, depth == 0, code[index] == UInt8(ascii: ",") { return index }
            depth += Self.step(code[index])
            if depth < 0 { return index }
        }
        return nil
    }

    /// The beginning of an argument's label.
    func label(_ name: String, in call: Range<Int>) -> Int? {
        let word = Array("\(name):".utf8)
        return call.first { start in
            start + word.count <= call.upperBound && code[start..<start + word.count].elementsEqual(word)
                && !Self.isName(code[start - 1]) && depth(at: start, in: call) == 0
        }
    }

    /// An argument's expression, without space around it.
    func argument(_ name: String, in call: Range<Int>) -> Range<Int>? {
        guard let label = label(name, in: call), let end = end(from: label + name.utf8.count + 1, atComma: true) else {
            return nil
        }
        let range = label + name.utf8.count + 1..<end
        guard let first = range.first(where: { !isSpace($0) }), let last = range.last(where: { !isSpace($0) }) else {
            return nil
        }
        return first..<last + 1
    }

    private func isSpace(_ index: Int) -> Bool { " \t\r\n".utf8.contains(code[index]) }

    /// The value of a plain string literal.
    func string(_ range: Range<Int>?) -> String? {
        guard let range, let match = original(range).wholeMatch(of: /"([^"\\]*)"/) else { return nil }
        return String(match.1)
    }

    /// Whether only space precedes an index in its line.
    func startsLine(_ index: Int) -> Bool { code[..<index].last { !" \t".utf8.contains($0) } == UInt8(ascii: "\n") }

    func indent(of index: Int) -> String {
        let start = code[..<index].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return original(start..<index).prefix { " \t".contains($0) }.description
    }

    func inserting(_ text: String, at index: Int) -> String {
        original(0..<index) + text + original(index..<bytes.count)
    }

    /// An expression's text, with that of the array literals which are given to a variable in it.
    func withLists(_ expression: Range<Int>) -> String {
        let text = original(expression)
        let all = String(decoding: code, as: UTF8.self)
        return text.matches(of: /[A-Za-z_]\w*/).reduce(text) { result, word in
            guard let assignment = try? Regex("\\b\(word.output)\\b[^=\\n]*=\\s*\\[") else { return result }
            return all.matches(of: assignment.wordBoundaryKind(.simple)).reduce(result) { result, match in
                let start = all.utf8.distance(from: all.startIndex, to: match.range.upperBound)
                return end(from: start).map { result + original(start..<$0) } ?? result
            }
        }
    }

    /// The text with one more element in an array literal or variable; nil where the expression is something else.
    func appending(_ element: String, to array: Range<Int>) -> String? {
        if original(array).wholeMatch(of: /[A-Za-z_][\w.]*/) != nil {
            return inserting(" + [\(element)]", at: array.upperBound)
        }
        guard code[array.lowerBound] == UInt8(ascii: "["), end(from: array.lowerBound + 1) == array.upperBound - 1
        else {
            return nil
        }
        let inside = array.lowerBound + 1..<array.upperBound - 1
        guard let last = inside.last(where: { !isSpace($0) }) else {
            guard startsLine(inside.upperBound) else { return inserting(element, at: inside.upperBound) }
            let indent = indent(of: inside.upperBound)
            return inserting("    \(element)\n\(indent)", at: inside.upperBound)
        }
        let hasComma = code[last] == UInt8(ascii: ",")
        let comma = hasComma ? "" : ","
        guard let lineEnd = (last..<inside.upperBound).first(where: { code[$0] == UInt8(ascii: "\n") }) else {
            return inserting("\(comma) \(element)", at: last + 1)
        }
        let line = "\n\(indent(of: last))\(element)\(hasComma ? "," : "")"
        return original(0..<last + 1) + comma + original(last + 1..<lineEnd) + line + original(lineEnd..<bytes.count)
    }
}
