#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKit
    import LoadingKitCore
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

    /// `loadkit background list`.
    struct ListTransfersCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Lists the background transfers of all programs.")

        @Flag(help: "Shows them anew each second, until it is interrupted.")
        var watch = false

        @Flag(help: "Writes JSON; with --watch a line each second.")
        var json = false

        func run() async throws {
            let control = DaemonAccess()
            var picture = TerminalPicture()
            while true {
                let sessions = try await reportingDaemon { try await control.overview() }
                // The terminal's size may have changed.
                let terminal = Terminal(STDOUT_FILENO)
                let isPicture = watch && !json && terminal.isTerminal
                let height = isPicture ? terminal.height.map { $0 - 1 } : nil
                let text =
                    json
                    ? TransferList(sessions).json
                    : TransferTable(sessions).text(width: terminal.width - 1, height: height)
                guard try StandardOutput.write(isPicture ? picture.replace(by: text) : text), watch else { return }
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// `loadkit background add URL -o FILE`.
    struct AddTransferCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Downloads a file in the background, until it is there.")

        @Argument(help: ArgumentHelp("What to download.", valueName: "URL"))
        var url: String

        @Option(
            name: [.short, .long],
            help: ArgumentHelp("Where it goes. Default: the URL's last component, in this folder.", valueName: "FILE"))
        var output: String?

        /// The session of the tool's own downloads. It does not depend on the path by which the tool was started, so
        /// that all downloads have one series of numbers.
        static var session: SessionDescription {
            get throws {
                try SessionDescription(
                    URLSessionConfiguration.default.settings, identifier: TransferName.ownSession,
                    program: TransferName.ownSession, storeFolder: nil)
            }
        }

        func run() async throws {
            let addition = try AddedDownload(url, output: output)
            let session = try Self.session
            let number = try await reportingDaemon {
                try await DaemonAccess().add(to: session) { addition.transfer($0) }
            }
            try StandardOutput.write("\(number)  \(PlainText.line(addition.destination))\n")
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
