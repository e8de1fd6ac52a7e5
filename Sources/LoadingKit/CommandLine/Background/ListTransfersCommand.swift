#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKitTransfers

    /// `loadkit background list`.
    struct ListTransfersCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Lists the background transfers of all programs.")

        @Flag(help: "Shows them anew each second, until it is interrupted.")
        var watch = false

        @Flag(help: "Writes JSON; with --watch a line each second.")
        var json = false

        func run() async throws {
            let control = DaemonControl()
            let terminal = Terminal(STDOUT_FILENO)
            var lineCount = 0
            while true {
                let sessions = try await reportingDaemon { try await control.overview() }
                let text = json ? TransferList(sessions).json : TransferTable(sessions).text(width: terminal.width - 1)
                // Over what was shown before.
                let isReplaced = terminal.isTerminal && !json && lineCount > 0
                guard write((isReplaced ? "\u{1b}[\(lineCount)A\u{1b}[J" : "") + text), watch else { return }
                lineCount = text.count { $0 == "\n" }
                try await Task.sleep(for: .seconds(1))
            }
        }

        /// False where the reader has gone.
        private func write(_ text: String) -> Bool { DescriptorWriter(STDOUT_FILENO).write(Array(text.utf8)) == nil }
    }
#endif
