#if CommandLineTool
    import ArgumentParser

    /// A shell for which the tool writes completions.
    enum CompletionShell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish

        /// The shell's script: commands, options, and values that are files, folders or one of some words.
        func script(_ table: ToolTable) -> String {
            switch self {
            case .bash: BashCompletion.text(table)
            case .zsh: ZshCompletion.text(table)
            case .fish: FishCompletion.text(table)
            }
        }
    }

    /// A function that looks up the command in the words before the cursor, then what that command has.
    private enum BashCompletion {
        static func text(_ table: ToolTable) -> String {
            let paths = table.commands.dropFirst().map { "' \($0.path.joined(separator: " "))'" }
            let values = [
                "paths": paths.joined(separator: " | "), "commands": table.commands.map(branch).joined(),
            ]
            return Resource(PackageResources.completions_bash_txt, values).text
        }

        private static func branch(_ path: [String], _ command: ToolTable.Command) -> String {
            func names(_ kinds: [ValueCompletion]) -> String {
                command.options.filter { $0.kind == .option && kinds.contains($0.completion) }.flatMap(\.texts)
                    .joined(separator: " ")
            }
            let pattern = path.isEmpty ? "''" : "' \(path.joined(separator: " "))'"
            var words: [String] = []
            var lines = ["options='\(command.options.flatMap(\.texts).joined(separator: " "))'"]
            for (name, kind) in [("files", ValueCompletion.files), ("folders", .folders), ("others", .none)] {
                lines.append("\(name)='\(names([kind]))'")
            }
            for argument in command.positionals {
                if case .words(let values) = argument.completion { words += values }
                if argument.completion == .folders { lines.append("place=folders") }
                if argument.completion == .files { lines.append("place=files") }
            }
            lines.append("words='\(words.joined(separator: " "))'")
            let subcommands = command.displayedSubcommands.map(\.commandName)
            if !subcommands.isEmpty {
                lines.append("((i == COMP_CWORD)) && words='\(subcommands.joined(separator: " "))'")
            }
            let body = lines.map { "        \($0)\n" }.joined()
            return "    \(pattern))\n\(body)        ;;\n"
        }
    }

    /// A function for each command, which calls `_arguments` (zshcompsys(1)).
    private enum ZshCompletion {
        static func text(_ table: ToolTable) -> String {
            "#compdef loadkit\n# Completions of loadkit for zsh, from: loadkit completions zsh\n"
                + table.commands.map(function).joined() + "_loadkit \"$@\"\n"
        }

        private static func function(_ path: [String], _ command: ToolTable.Command) -> String {
            var text = "\(name(path))() {\n"
            let subcommands = command.displayedSubcommands
            if !subcommands.isEmpty {
                text += "    local -a commands=(\n"
                text += subcommands.map { "        \(ShellWord.quoted("\($0.commandName):\($0.abstract ?? "")"))\n" }
                    .joined()
                text += "    )\n    if ((CURRENT > 2)); then\n        case ${words[2]} in\n"
                for subcommand in subcommands {
                    let function = name(path + [subcommand.commandName])
                    text += "        \(subcommand.commandName)) shift words; ((CURRENT--)); \(function); return ;;\n"
                }
                text += "        esac\n    elif [[ ${words[2]} != -* ]]; then\n"
                text += "        _describe -t commands command commands\n    fi\n"
            }
            let arguments = command.options.flatMap(option) + command.positionals.map(positional)
            return text + "    _arguments -s -S " + arguments.joined(separator: " \\\n        ") + "\n}\n"
        }

        private static func name(_ path: [String]) -> String {
            (["_loadkit"] + path).joined(separator: "_").replacing("-", with: "_")
        }

        private static func option(_ option: ToolTable.Argument) -> [String] {
            let help = escaped(option.abstract ?? "", "[]:")
            let value = option.kind == .flag ? "" : ":\(option.valueName ?? ""):\(action(option.completion))"
            return option.texts.map { name in
                ShellWord.quoted(
                    "*\(escaped(name, ":"))\(option.kind == .flag || !name.hasPrefix("--") ? "" : "=")[\(help)]\(value)"
                )
            }
        }

        private static func positional(_ argument: ToolTable.Argument) -> String {
            let value = ":\(argument.valueName ?? ""):\(action(argument.completion))"
            return ShellWord.quoted((argument.isRepeating ? "*" : argument.isOptional ? ":" : "") + value)
        }

        private static func action(_ completion: ValueCompletion) -> String {
            switch completion {
            case .files: "_files"
            case .folders: "_files -/"
            case .words(let words): "(\(words.joined(separator: " ")))"
            case .none: " "
            }
        }

        private static func escaped(_ text: String, _ characters: String) -> String {
            text.unicodeScalars.map { scalar in
                characters.unicodeScalars.contains(scalar) || scalar == "\\" ? "\\\(scalar)" : String(scalar)
            }.joined()
        }
    }

    /// A line for each name of a command or option, with the condition under which it is offered.
    private enum FishCompletion {
        static func text(_ table: ToolTable) -> String {
            let paths = table.commands.dropFirst().map { ShellWord.fish($0.path.joined(separator: " ")) }
            return Resource(PackageResources.completions_fish_txt, ["paths": paths.joined(separator: " ")]).text
                + table.commands.map(lines).joined()
        }

        private static func lines(_ path: [String], _ command: ToolTable.Command) -> String {
            let start = "complete -c loadkit -n '__loadkit_is \(path.joined(separator: " "))'"
            let first = "complete -c loadkit -n '__loadkit_starts \(path.joined(separator: " "))'"
            let subcommands = command.displayedSubcommands.map {
                "\(first) -a \($0.commandName) -d \(ShellWord.fish($0.abstract ?? ""))"
            }
            let positionals = command.positionals.compactMap { argument in
                value(argument.completion).map { "\(start)\($0)" }
            }
            let options = command.options.map { option in
                let names = (option.names ?? []).map { " -\($0.kind == .long ? "l" : "s") \(ShellWord.fish($0.name))" }
                let value = option.kind == .flag ? "" : value(option.completion) ?? " -x"
                return start + names.joined() + value + " -d " + ShellWord.fish(option.abstract ?? "")
            }
            return (subcommands + positionals + options).map { $0 + "\n" }.joined()
        }

        private static func value(_ completion: ValueCompletion) -> String? {
            switch completion {
            case .files: " -r -F"
            case .folders: " -x -a '(__fish_complete_directories)'"
            case .words(let words): " -x -a \(ShellWord.fish(words.joined(separator: " ")))"
            case .none: nil
            }
        }
    }
#endif
