#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKit
    import LoadingKitCore
    import LoadingKitTransfers

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

        func run() async throws {
            let addition = try AddedDownload(url, output: output)
            let settings = URLSessionConfiguration.default.settings
            let program = CommandLine.arguments.first ?? "loadkit"
            let session = try SessionDescription(
                settings, identifier: TransferName.ownSession, program: program, storeFolder: nil)
            let number = try await reportingDaemon {
                try await DaemonAccess().add(to: session) { addition.transfer($0) }
            }
            StandardOutput.write("\(number)  \(PlainText.line(addition.destination))\n")
        }
    }
#endif
