#if CommandLineTool
    /// The page `loadkit(1)`, in the language of man(7).
    struct ManualPage {
        private(set) var text: String

        /// - Parameter version: the program's name and version.
        init(_ table: ToolTable, usage: String, version: String) {
            let load = table.commands[0].command
            let description = table.command.subcommands?.first { $0.commandName == table.command.defaultSubcommand }
            text = ".TH LOADKIT 1 \"\" \"\(Self.escaped(version))\" \"User Commands\"\n.nh\n.ad l\n"
            section("NAME")
            text += "loadkit \\- load URLs of every scheme\n"
            section("SYNOPSIS")
            text += ".nf\n" + Self.lines(usage) + "\n.fi\n"
            section("DESCRIPTION")
            paragraphs((description?.abstract ?? "") + "\n\n" + (description?.discussion ?? ""))
            section("OPTIONS")
            options(of: load)
            let hidden = load.hiddenOptions.flatMap(\.texts)
            if !hidden.isEmpty {
                text += ".SS Options that are accepted\nTheir effect is the default, or concerns nothing here:\n"
                text += hidden.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ",\n") + ".\n"
            }
            section("COMMANDS")
            for (path, command) in table.commands.dropFirst() where path != [table.command.defaultSubcommand] {
                commandSection(path, command)
            }
            section("EXIT STATUS")
            text += "0, or curl's number where the cause is the same, which\n.BR curl (1)\nlists. "
            text += "With several URLs it is that of the last failure.\n"
            section("SEE ALSO")
            text += ".BR loadkitd (8),\n.BR curl (1)\n"
        }

        private mutating func section(_ title: String) { text += ".SH \(title)\n" }

        private mutating func paragraphs(_ words: String) {
            for paragraph in words.split(separator: "\n\n") { text += ".PP\n" + Self.lines(String(paragraph)) + "\n" }
        }

        private mutating func options(of command: ToolTable.Command) {
            var title: String?
            for option in command.options {
                if option.sectionTitle != title, let next = option.sectionTitle {
                    text += ".SS \(Self.escaped(next))\n"
                }
                // The general options come last, and have no title.
                if option.sectionTitle == nil, title != nil { text += ".SS General\n" }
                title = option.sectionTitle
                item(option)
            }
        }

        private mutating func commandSection(_ path: [String], _ command: ToolTable.Command) {
            let words = command.positionals.map { argument in
                let name = (argument.valueName ?? "") + (argument.isRepeating ? " ..." : "")
                return argument.isOptional ? "[\(name)]" : name
            }
            text += ".SS " + Self.escaped((["loadkit"] + path + words).joined(separator: " ")) + "\n"
            paragraphs([command.abstract, command.discussion].compactMap { $0 }.joined(separator: "\n\n"))
            // These two are the same in every command.
            for argument in command.arguments ?? []
            where argument.shouldDisplay && !(argument.kind == .flag && isGeneral(argument)) { item(argument) }
        }

        private func isGeneral(_ argument: ToolTable.Argument) -> Bool {
            ["--version", "--help"].contains(argument.texts.last)
        }

        private mutating func item(_ argument: ToolTable.Argument) {
            let value = argument.valueName.map { "\\fI\(Self.escaped($0))\\fR" } ?? ""
            let names = argument.texts.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ", ")
            let head = argument.kind == .flag ? names : names.isEmpty ? value : "\(names) \(value)"
            text += ".TP\n\(head)\n\(Self.lines(argument.abstract ?? ""))\n"
        }

        private static func lines(_ text: String) -> String {
            text.split(separator: "\n").map { escaped(String($0)) }.joined(separator: "\n")
        }

        /// Text that is none of roff's requests and escapes (groff(7), "Escapes"; "Requests").
        static func escaped(_ text: String) -> String {
            let characters: [Unicode.Scalar: String] = [
                "\\": "\\e", "-": "\\-", "~": "\\(ti", "^": "\\(ha", "`": "\\(ga", "'": "\\(aq", "\"": "\\(dq",
            ]
            let escaped = text.unicodeScalars.map { scalar in
                let code = String(scalar.value, radix: 16, uppercase: true)
                return scalar.isASCII
                    ? characters[scalar] ?? String(scalar)
                    : "\\[u\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)]"
            }.joined()
            return escaped.hasPrefix(".") ? "\\&\(escaped)" : escaped
        }
    }
#endif
