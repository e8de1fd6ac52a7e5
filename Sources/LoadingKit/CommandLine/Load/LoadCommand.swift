#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKit

    /// `loadkit URL…`: loads URLs, and writes their contents.
    struct LoadCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "load",
            abstract: "Loads URLs of every scheme, and writes their bodies to standard output.",
            usage: """
                loadkit [options] URL ...
                loadkit schemes [URL]
                loadkit new-handler NAME
                loadkit demo
                """,
            discussion: """
                Options have curl's names and meanings. Redirects are followed, compressed bodies are decoded, and a load \
                ends after five minutes without a byte.

                `loadkit schemes` lists what can be loaded; `loadkit new-handler` writes a package with a handler for a \
                scheme of your own; `loadkit demo` loads over every scheme from servers of its own, without a network.

                Errors go to standard error in one line, with curl's exit codes; with several URLs, the code is that of \
                the last failure.
                """)

        @OptionGroup var options: LoadOptions

        func run() async throws {
            let plan = try LoadPlan(options)
            let status = await LoadRunner(plan, Console.standardError).run()
            if status != .success { throw ExitCode(status.rawValue) }
        }
    }

    /// Runs a plan's loads in one session, with a limit for simultaneous loads.
    struct LoadRunner {
        private let plan: LoadPlan
        private let console: Console

        init(_ plan: LoadPlan, _ console: Console) {
            self.plan = plan
            self.console = console
        }

        /// The last failure's status; success when all loads succeeded.
        func run() async -> ToolStatus {
            let queue = DelegateQueue()
            let session = URLSession(configuration: plan.configuration, delegate: nil, delegateQueue: queue.operations)
            let output = OrderedOutput(STDOUT_FILENO, plan.loads.indices.filter { plan.loads[$0].usesStandardOutput })
            let progress = ProgressDisplay(console, queue.dispatch, isShown: showsProgress)
            let status = await runAll(in: session, output, progress)
            session.finishTasksAndInvalidate()
            return status
        }

        /// A progress line would disturb the displayed lines of a body.
        private var showsProgress: Bool {
            plan.display.showsProgress && console.terminal.isTerminal
                && (isatty(STDOUT_FILENO) == 0 || !plan.loads.contains(where: \.usesStandardOutput))
        }

        private func runAll(in session: URLSession, _ output: OrderedOutput, _ progress: ProgressDisplay) async
            -> ToolStatus
        {
            await withTaskGroup(of: ToolFailure?.self, returning: ToolStatus.self) { group in
                var waiting = plan.loads.indices.makeIterator()
                func addNext() {
                    guard let index = waiting.next() else { return }
                    let transfer = Transfer(index, plan, console, output, progress)
                    group.addTask { await transfer.run(in: session) }
                }
                for _ in 0..<min(plan.jobs, plan.loads.count) { addNext() }
                var status = ToolStatus.success
                for await failure in group {
                    if let failure {
                        status = failure.status
                        if plan.display.showsErrors { console.write(failure.line) }
                    }
                    addNext()
                }
                return status
            }
        }
    }

    extension PlannedLoad {
        fileprivate var usesStandardOutput: Bool { destination == .standardOutput }
    }
#endif
