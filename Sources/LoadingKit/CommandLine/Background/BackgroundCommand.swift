#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKitTransfers

    /// `loadkit background`: the transfers of the user's daemon for all programs, and the tool's own downloads.
    struct BackgroundCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "background",
            abstract: "Shows and controls background transfers, and adds downloads that go on by themselves.",
            discussion: """
                Transfers are performed by loadkitd, which is started when it is needed. TRANSFER is what list shows: \
                a number for downloads that were added here, SESSION/NUMBER for those of a program.
                """,
            subcommands: [
                ListTransfersCommand.self, AddTransferCommand.self, PauseTransferCommand.self,
                ResumeTransferCommand.self, CancelTransferCommand.self, DaemonLogCommand.self,
                InstallDaemonCommand.self, UninstallDaemonCommand.self,
            ],
            defaultSubcommand: ListTransfersCommand.self)
    }

    /// Converts the daemon's errors to the tool's error messages.
    func reportingDaemon<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as DaemonError {
            throw ToolFailure(.couldNotConnect, "background transfers are not available: \(error)")
        } catch let error as ToolFailure {
            throw error
        } catch {
            throw ToolFailure(error, hadResponse: false)
        }
    }

    struct PauseTransferCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "pause", abstract: "Suspends transfers.")
        @Argument(help: ArgumentHelp("The transfers.", valueName: "TRANSFER"))
        var transfers: [String]

        func run() async throws { try await TransferName.send(to: transfers) { .suspend($0) } }
    }

    struct ResumeTransferCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "Has transfers that were suspended go on.")
        @Argument(help: ArgumentHelp("The transfers.", valueName: "TRANSFER"))
        var transfers: [String]

        func run() async throws { try await TransferName.send(to: transfers) { .resume($0) } }
    }

    struct CancelTransferCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel", abstract: "Ends transfers; their programs get an error.")
        @Argument(help: ArgumentHelp("The transfers.", valueName: "TRANSFER"))
        var transfers: [String]

        func run() async throws {
            try await TransferName.send(to: transfers) { .cancel($0, producingResumeData: false) }
        }
    }
#endif
