#if CommandLineTool
    import ArgumentParser

    /// `loadkit manual`: writes the manual page of the tool or of the daemon.
    struct ManualCommand: ParsableCommand {
        enum Page: String, CaseIterable, ExpressibleByArgument { case loadkit, loadkitd }

        static let configuration = CommandConfiguration(
            commandName: "manual", abstract: "Writes the manual page of loadkit or loadkitd.",
            discussion: "The page is for man: loadkit manual >loadkit.1; man ./loadkit.1")

        @Argument(help: ArgumentHelp("The program.", valueName: "PROGRAM"))
        var page = Page.loadkit

        func run() throws { try StandardOutput.write(Self.text(page)) }

        static func text(_ page: Page) throws -> String {
            let version = LoadKit.configuration.version
            switch page {
            case .loadkit:
                let usage = LoadCommand.configuration.usage ?? ""
                return ManualPage(try ToolTable.current(), usage: usage, version: version).text
            case .loadkitd: return Resource(PackageResources.loadkitd_8_txt, ["version": version]).text
            }
        }
    }

    /// `loadkit completions SHELL`: writes the completions of a shell.
    struct CompletionsCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "completions", abstract: "Writes completions of commands and options for a shell.",
            discussion: """
                With bash: source <(loadkit completions bash). With zsh, write them to the file _loadkit in a folder of \
                fpath. With fish: loadkit completions fish | source.
                """)

        @Argument(help: ArgumentHelp("The shell.", valueName: "SHELL"))
        var shell: CompletionShell

        func run() throws { try StandardOutput.write(shell.script(ToolTable.current())) }
    }
#endif
