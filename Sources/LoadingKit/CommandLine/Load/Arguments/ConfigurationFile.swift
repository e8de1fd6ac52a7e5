#if CommandLineTool
    /// A file of options in curl's form (`-K`): one on each line, such as `user = "name:password"` or `--silent`.
    enum ConfigurationFile {
        static func arguments(in text: String, of path: String) throws -> [String] {
            try text.lines.enumerated().flatMap { number, line in
                do throws(ToolFailure) {
                    return try Self.arguments(of: line.trimmingCharacters(in: .whitespaces))
                } catch {
                    throw ToolFailure(error.status, "\(path), line \(number + 1): \(error.reason ?? "")")
                }
            }
        }

        private static func arguments(of line: String) throws(ToolFailure) -> [String] {
            if line.isEmpty || line.hasPrefix("#") { return [] }
            let (name, rest) = parts(line)
            let option = Arguments.split(name).last
            let takesValue = option.map { $0.value == nil && OptionNames.all.hasValue($0.name) } ?? false
            guard takesValue else {
                guard rest.isEmpty || rest.hasPrefix("#") else {
                    throw ToolFailure(.usage, "\(name) cannot be followed by a value")
                }
                return [name]
            }
            guard !rest.isEmpty else { throw ToolFailure(.usage, "\(name) has no value") }
            guard let value = value(rest) else { throw ToolFailure(.usage, "a quotation mark is not closed") }
            return [name, value]
        }

        /// The option with its dashes, and the rest of the line. `=` and `:` separate the two, as in curl, but not
        /// after a dash and a letter, which the value may follow directly (`-dname=value`).
        private static func parts(_ line: String) -> (name: String, rest: Substring) {
            let isLetter = line.hasPrefix("-") && !line.hasPrefix("--")
            let name = line.prefix { !" \t".contains($0) && (isLetter || !"=:".contains($0)) }
            let rest = line[name.endIndex...]
            guard line.hasPrefix("-") else { return ("--\(name)", rest.drop { " \t=:".contains($0) }) }
            let hasSeparator = rest.first.map { "=:".contains($0) } ?? false
            return (String(name), rest.dropFirst(hasSeparator ? 1 : 0).drop { " \t".contains($0) })
        }

        /// Up to white space, or between quotation marks, with escapes as in C; nil where the second mark lacks.
        private static func value(_ text: Substring) -> String? {
            guard text.hasPrefix("\"") else { return String(text.prefix { $0 != " " && $0 != "\t" }) }
            var value = ""
            var rest = text.dropFirst()
            while let character = rest.popFirst() {
                switch character {
                case "\"": return value
                case "\\": value += escapes[rest.first ?? "\\"] ?? String(rest.first ?? "\\"); rest = rest.dropFirst()
                case _: value.append(character)
                }
            }
            return nil
        }

        private static let escapes: [Character: String] = ["n": "\n", "r": "\r", "t": "\t", "v": "\u{b}"]
    }
#endif
