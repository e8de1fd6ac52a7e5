#if CommandLineTool
    import Foundation
    import LoadingKit

    /// The page that shows the tool's own transfers: `--inspect`.
    struct TransferPage {
        private let inspector: URLSessionInspector
        /// The file by which the page was opened.
        private let file: PageFile?

        init() throws {
            do {
                inspector = try URLSession.inspect()
            } catch {
                throw ToolFailure(.couldNotConnect, error.localizedDescription)
            }
            let address = inspector.page.absoluteString
            Console.standardError.write("loadkit: the transfers are shown at \(address)\n")
            file = DesktopOpener().open(secret: address)
        }

        /// Serves the page until Ctrl-C is pressed, or another signal ends the tool.
        func waitForInterruption() async {
            let (interruptions, isInterrupted) = AsyncStream<Void>.makeStream()
            let source = DispatchSource.follow(SIGINT) { isInterrupted.finish() }
            Console.standardError.write("loadkit: all transfers have ended; Ctrl-C ends the page\n")
            for await _ in interruptions {}
            source.cancel()
            inspector.stop()
            file?.remove()
        }
    }
#endif
