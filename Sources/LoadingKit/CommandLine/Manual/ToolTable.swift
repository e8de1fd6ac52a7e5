#if CommandLineTool
    import Foundation

    /// The tool's commands and options as its parser declares them. The manual and the completions are made of it.
    struct ToolTable: Decodable {
        let command: Command

        struct Command: Decodable {
            let commandName: String
            let abstract: String?
            let discussion: String?
            let shouldDisplay: Bool?
            let defaultSubcommand: String?
            let subcommands: [Command]?
            fileprivate(set) var arguments: [Argument]?
        }

        struct Argument: Decodable {
            enum Kind: String, Decodable { case positional, option, flag }

            let kind: Kind
            let names: [Name]?
            let valueName: String?
            let abstract: String?
            let sectionTitle: String?
            let shouldDisplay: Bool
            let isOptional: Bool
            let isRepeating: Bool
            let allValues: [String]?
        }

        struct Name: Decodable {
            enum Kind: String, Decodable { case long, short, longWithSingleDash }

            let kind: Kind
            let name: String

            var text: String { kind == .long ? "--\(name)" : "-\(name)" }
        }

        /// The table of the running tool.
        static func current() throws -> ToolTable {
            try JSONDecoder().decode(ToolTable.self, from: Data(LoadKit._dumpHelp().utf8))
        }

        /// All commands that the help lists. The root has the options of its default subcommand.
        var commands: [(path: [String], command: Command)] { Self.commands(in: command, at: []) }

        private static func commands(in command: Command, at path: [String]) -> [(path: [String], command: Command)] {
            [(path, command.withDefault)]
                + command.displayedSubcommands.flatMap { commands(in: $0, at: path + [$0.commandName]) }
        }
    }

    extension ToolTable.Command {
        var displayedSubcommands: [Self] {
            (subcommands ?? []).filter { $0.shouldDisplay ?? true && $0.commandName != "help" }
        }

        /// Options that the help lists. One that a command declares itself hides a general one of the same name.
        var options: [ToolTable.Argument] {
            var names: Set<String> = []
            return (arguments ?? []).filter { argument in
                guard argument.shouldDisplay, argument.kind != .positional else { return false }
                defer { names.formUnion(argument.texts) }
                return names.isDisjoint(with: argument.texts)
            }
        }

        var positionals: [ToolTable.Argument] { (arguments ?? []).filter { $0.kind == .positional } }

        /// Options that are accepted, and which the help does not list.
        var hiddenOptions: [ToolTable.Argument] { (arguments ?? []).filter { !$0.shouldDisplay } }

        /// This command, with the arguments of its default subcommand.
        fileprivate var withDefault: Self {
            guard let other = subcommands?.first(where: { $0.commandName == defaultSubcommand }) else { return self }
            var command = self
            command.arguments = other.arguments
            return command
        }
    }

    extension ToolTable.Argument {
        /// The names with their dashes.
        var texts: [String] { (names ?? []).map(\.text) }

        /// The values that a shell can complete.
        var completion: ValueCompletion {
            if let allValues, !allValues.isEmpty { return .words(allValues) }
            switch valueName {
            case "FILE", "PATH": return .files
            case "FOLDER": return .folders
            case _: return .none
            }
        }
    }

    enum ValueCompletion: Hashable {
        case files, folders, none
        case words([String])
    }
#endif
