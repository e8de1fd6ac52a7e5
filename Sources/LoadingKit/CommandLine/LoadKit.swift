#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKit
    import LoadingKitTransfers

    /// `loadkit`: loads URLs of every scheme from the command line.
    @main
    struct LoadKit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "loadkit",
            abstract: "Loads URLs of every scheme.",
            version: "loadkit 0.1.0",
            subcommands: [
                LoadCommand.self, SchemesCommand.self, InspectCommand.self, NewHandlerCommand.self, AdoptCommand.self,
                BackgroundCommand.self, DemoCommand.self, BackgroundDemoCommand.self, ManualCommand.self,
                CompletionsCommand.self,
            ],
            defaultSubcommand: LoadCommand.self)

        static func main() async {
            occupyStandardStreams()
            // `LOADKITD` may name this program, as in the demo. Other programs do not start it by default.
            if DaemonMain.isStarted { LoadingKitBackground.runDaemon() }
            // Where the reader of a pipe has closed it, a write fails with EPIPE, which has an exit code, and does not
            // kill this process.
            signal(SIGPIPE, SIG_IGN)
            // The system keeps no exit status of a child where this signal is ignored, as a parent may have left it.
            signal(SIGCHLD, SIG_DFL)
            do {
                let given = Array(CommandLine.arguments.dropFirst())
                Arguments.hideSecrets(of: given)
                let requests = try Arguments(given).requests
                var arguments = requests.first ?? []
                if arguments.first == "load" { arguments.removeFirst() }
                if arguments == ["--help"] || arguments == ["-h"] {
                    try StandardOutput.write(helpMessage(for: LoadCommand.self) + "\n")
                    return
                }
                if !concernRoot(arguments) {
                    let options = try ([arguments] + requests.dropFirst()).map { try LoadCommand.parse($0) }
                    return try await LoadCommand.run(options)
                }
                var command = try parseAsRoot(arguments)
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            } catch {
                Foundation.exit(report(error))
            }
        }

        /// Opens `/dev/null` in the place of each standard stream that is closed, as curl does: the next descriptor, such as
        /// that of an event loop, would be in its place. It is opened in the other direction, so that its use fails.
        private static func occupyStandardStreams() {
            let modes = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
            for (number, mode) in modes where fcntl(number, F_GETFD) < 0 { _ = open("/dev/null", mode) }
        }

        /// Whether the parser needs more than the options of a load. They are many, and it is slow.
        private static func concernRoot(_ arguments: [String]) -> Bool {
            guard let first = arguments.first else { return false }
            let names = configuration.subcommands.compactMap { $0.configuration.commandName }
            return ["help", "--version"].contains(first) || names.contains(first) || first.hasPrefix("--generate-")
                || first.hasPrefix("-") && first.contains("-help")
        }

        /// Reports the reason why the process ends, on one line, and returns its exit code.
        private static func report(_ error: any Error) -> Int32 {
            if let code = error as? ExitCode { return code.rawValue }
            let code = exitCode(for: error)
            // The parser reports requests for help and for the version as errors, too.
            if code.isSuccess {
                do {
                    try StandardOutput.write(fullMessage(for: error) + "\n")
                    return 0
                } catch {
                    return report(error)
                }
            }
            let failure =
                error as? ToolFailure
                ?? ToolFailure(.usage, message(for: error) + (code == .validationFailure ? "; see loadkit --help" : ""))
            Console.standardError.write(failure.line)
            return failure.status.rawValue
        }
    }
#else
    import Foundation

    /// `loadkit`, built without the package trait that it requires.
    @main
    struct LoadKit {
        static func main() {
            Console.standardError.write(
                "loadkit: build with the package trait CommandLineTool (--traits default,CommandLineTool)\n")
            Foundation.exit(2)
        }
    }
#endif
