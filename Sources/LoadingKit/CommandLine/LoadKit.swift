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
                LoadCommand.self, SchemesCommand.self, NewHandlerCommand.self, BackgroundCommand.self, DemoCommand.self,
            ] + hidden,
            defaultSubcommand: LoadCommand.self)

        private static var hidden: [any ParsableCommand.Type] {
            #if Persistence
                [BackgroundDemoCommand.self]
            #else
                []
            #endif
        }

        static func main() async {
            // `LOADKITD` may name this program, as in the demo. It is not what other programs start.
            if DaemonMain.isStarted { LoadingKitBackground.runDaemon() }
            // A reader that goes away ends a write with EPIPE, which has an exit code, rather than this process.
            signal(SIGPIPE, SIG_IGN)
            let arguments = ShortOptions.expanded(Array(CommandLine.arguments.dropFirst()))
            if arguments == ["--help"] || arguments == ["-h"] {
                StandardOutput.write(helpMessage(for: LoadCommand.self) + "\n")
                return
            }
            do {
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

        /// Says why the process ends, in one line, and gives the code that it ends with.
        private static func report(_ error: any Error) -> Int32 {
            if let code = error as? ExitCode { return code.rawValue }
            let code = exitCode(for: error)
            // The parser reports requests for help and for the version as errors, too.
            if code.isSuccess {
                StandardOutput.write(fullMessage(for: error) + "\n")
                return 0
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

    /// `loadkit`, built without the package trait that it needs.
    @main
    struct LoadKit {
        static func main() {
            Console.standardError.write(
                "loadkit: build with the package trait CommandLineTool (--traits default,CommandLineTool)\n")
            Foundation.exit(2)
        }
    }
#endif
