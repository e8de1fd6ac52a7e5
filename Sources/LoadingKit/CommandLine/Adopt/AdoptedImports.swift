/// Imports of FoundationNetworking that follow each other, in a place that is compiled on other platforms, too. They become one
/// condition with two branches.
struct AdoptedImports {
    private let indent: String
    private var adopted: [String]
    private var original: [String]

    init(_ adopted: String, original: String, indent: Substring) {
        (self.indent, self.adopted, self.original) = (String(indent), [adopted], [original])
    }

    mutating func append(_ adopted: String, original: String) {
        self.adopted.append(adopted)
        self.original.append(original)
    }

    /// Adds the condition to the lines.
    /// - Parameter isLast: the next line is `#else`, `#elseif` or `#endif`. Where the condition before the imports asks for
    ///   FoundationNetworking, it is changed, and no other is needed.
    func write(to lines: inout [String], isLast: Bool) {
        guard isLast, let condition = lines.last, condition.trimmed == "#if canImport(FoundationNetworking)" else {
            let end = original.last?.lineEnd ?? ""
            lines += ["\(indent)#if os(Linux)\(end)"] + adopted
            lines += ["\(indent)#else\(end)"] + original + ["\(indent)#endif\(end)"]
            return
        }
        lines[lines.count - 1] = condition.replacingFirst("canImport(FoundationNetworking)", with: "os(Linux)")
        lines += adopted + [condition.replacingFirst("#if", with: "#elseif")] + original
    }
}
