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
                guard write(isPicture ? picture.replace(by: text) : text), watch else { return }
                try await Task.sleep(for: .seconds(1))
            }
        }

        /// False where the reader has closed the pipe.
        private func write(_ text: String) -> Bool { DescriptorWriter(STDOUT_FILENO).write(Array(text.utf8)) == nil }
    }
#endif
