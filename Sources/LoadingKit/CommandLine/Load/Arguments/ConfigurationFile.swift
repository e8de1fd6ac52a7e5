#if CommandLineTool
    /// A file of options in curl's form (`-K`): one on each line, such as `user = "name:password"` or `--silent`.
    enum ConfigurationFile {
        static func arguments(in text: String, of path: String) throws -> [String] {
            var arguments: [String] = []
            for (number, line) in text.lines.enumerated() {
                let line = line.trimmingCharacters(in: .whitespaces)
                if line.isEmpty || line.hasPrefix("#") { continue }
                let end = line.firstIndex { $0 == "=" || $0 == ":" || $0 == " " || $0 == "\t" } ?? line.endIndex
                let name = String(line[..<end])
                arguments.append(name.hasPrefix("-") ? name : "--\(name)")
                let rest = line[end...].drop { " \t=:".contains($0) }
                guard !rest.isEmpty else { continue }
                guard let value = value(rest) else {
                    throw ToolFailure(.usage, "\(path), line \(number + 1): a quotation mark is not closed")
                }
                if OptionNames.all.hasValue(arguments.last ?? "") { arguments.append(value) }
            }
            return arguments
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
