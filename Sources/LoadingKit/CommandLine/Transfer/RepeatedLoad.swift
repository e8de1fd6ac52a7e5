#if CommandLineTool
    import Foundation
    import LoadingKit

    /// A load with its repetitions (`--retry`).
    struct RepeatedLoad: Sendable {
        let index: Int
        let plan: LoadPlan
        let outlets: Outlets

        /// Returns when everything has ended; nil for success.
        func run(in session: URLSession) async -> ToolFailure? {
            let start = DispatchTime.now().uptimeNanoseconds
            let load = plan.load(at: index)
            var attempt = 0
            var created: Set<String> = []
            while true {
                let elapsed = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
                let transfer = Transfer(
                    index, load, plan, outlets, attempt: attempt, elapsed: elapsed, created: created)
                let outcome = await transfer.run(in: session)
                guard let delay = outcome.delay else { return outcome.failure }
                if let path = outcome.openPath { created.insert(path) }
                if plan.display.showsErrors {
                    let reason = outcome.failure?.reason ?? "the server answered \(outcome.status ?? 0)"
                    outlets.console.write(
                        "* \(PlainText.line(reason)); again in \(TimeScale.duration(delay)), \(plan.rules.retry.count - attempt) left\n"
                    )
                }
                try? await Task.sleep(nanoseconds: UInt64(delay * 1e9))
                attempt += 1
            }
        }
    }

    /// The result of an attempt.
    struct TransferOutcome: Sendable {
        var failure: ToolFailure?
        var status: Int?
        /// Seconds until the next attempt; nil where this one was the last.
        var delay: Double?
        /// The file that has a part of the body, where the load is repeated.
        var openPath: String?
    }

    /// Where the transfers of a run write.
    struct Outlets: Sendable {
        let console: Console
        /// The terminal of standard error.
        let errors: Terminal
        /// The terminal for which standard output is displayed; nil where its bytes are untouched.
        let screen: Terminal?
        /// The queue for all events of a run's transfers.
        let queue: DispatchQueue
        let output: OrderedOutput
        let progress: ProgressDisplay
        let timing = TimingReport()
        /// The files beside the bodies, which all transfers write; `-` is standard output.
        let heads: OutputFile?
        let trace: OutputFile?

        init(
            console: Console, queue: DispatchQueue, output: OrderedOutput, progress: ProgressDisplay,
            display: LoadPlan.Display
        ) {
            (self.console, self.queue, self.output, self.progress) = (console, queue, output, progress)
            errors = console.terminal.with(display.colour)
            let terminal = Terminal(STDOUT_FILENO)
            screen = terminal.isTerminal || display.colour == .always ? terminal.with(display.colour) : nil
            heads = display.headFile.map { OutputFile($0) }
            trace = display.traceFile.map { OutputFile($0) }
        }
    }
#endif
