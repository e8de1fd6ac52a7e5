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
            if line.isEmpty || line.unicodeScalars.first == "#" { return [] }
            let (name, rest) = parts(line)
            let option = Arguments.split(name).last
            let takesValue = option.map { $0.value == nil && OptionNames.all.hasValue($0.name) } ?? false
            guard takesValue else {
                guard rest.isEmpty || rest.first == "#" else {
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
        ///
        /// Scalars are compared, as a combining mark forms one character with a separator or mark before it.
        private static func parts(_ line: String) -> (name: String, rest: Substring.UnicodeScalarView) {
            let isLetter = line.hasPrefix("-") && !line.hasPrefix("--")
            let scalars = line.unicodeScalars
            let name = scalars.prefix { !isBlank($0) && (isLetter || !isSeparator($0)) }
            let rest = scalars[name.endIndex...]
            guard line.hasPrefix("-") else {
                return ("--\(String(name))", rest.drop { isBlank($0) || isSeparator($0) })
            }
            let hasSeparator = rest.first.map { isSeparator($0) } ?? false
            return (String(name), rest.dropFirst(hasSeparator ? 1 : 0).drop { isBlank($0) })
        }

        private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

        private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool { scalar == "=" || scalar == ":" }

        /// Up to white space, or between quotation marks, with escapes as in C; nil where the second mark lacks.
        private static func value(_ text: Substring.UnicodeScalarView) -> String? {
            guard text.first == "\"" else { return String(text.prefix { !isBlank($0) }) }
            var value = String.UnicodeScalarView()
            var rest = text.dropFirst()
            while let scalar = rest.popFirst() {
                switch scalar {
                case "\"": return String(value)
                case "\\":
                    let escaped = rest.popFirst() ?? "\\"
                    value.append(escapes[escaped] ?? escaped)
                case _: value.append(scalar)
                }
            }
            return nil
        }

        private static let escapes: [Unicode.Scalar: Unicode.Scalar] = ["n": "\n", "r": "\r", "t": "\t", "v": "\u{b}"]
    }
#endif
