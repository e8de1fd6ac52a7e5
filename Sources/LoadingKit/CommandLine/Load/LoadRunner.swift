#if CommandLineTool
    import Foundation
    import LoadingKit
    import LoadingKitHAR

    /// Runs a plan's loads in one session, with a limit for simultaneous loads.
    struct LoadRunner {
        let plan: LoadPlan
        let console: Console

        /// The last failure's status; success when all loads succeeded.
        func run() async -> ToolStatus {
            let queue = DelegateQueue()
            let session = URLSession(
                configuration: plan.configuration, delegate: ChallengeAnswers(plan), delegateQueue: queue.operations)
            let recording = plan.display.recordingFile.flatMap {
                try? session.recordHAR(to: URL(fileURLWithPath: $0))
            }
            let waiting = plan.loads.indices.filter { plan.usesStandardOutput(plan.loads[$0]) }
            let outlets = Outlets(
                console: console, queue: queue.dispatch, output: OrderedOutput(STDOUT_FILENO, waiting),
                progress: ProgressDisplay(
                    console, queue.dispatch, isShown: showsProgress, isBar: plan.display.showsProgressBar),
                display: plan.display)
            let status = await runAll(in: session, outlets)
            let cookies = session.configuration.httpCookieStorage?.cookies ?? []
            session.finishTasksAndInvalidate()
            if plan.display.showsTiming {
                // The terminal's line may have text of a body.
                let isMidLine = outlets.screen?.isTerminal == true && !outlets.output.isAtLineStart
                console.write((isMidLine ? "\n" : "") + outlets.timing.waterfall(outlets.errors))
            }
            let recorded = await finish(recording)
            let saved = save(cookies, outlets)
            return recorded ?? saved ?? status
        }

        /// Opens the file of `--har`, whose content it replaces.
        static func openRecording(_ path: String) throws -> HARFile {
            do {
                return try HARFile.at(URL(fileURLWithPath: path), replacing: true)
            } catch {
                throw ToolFailure(.writeError, error.description)
            }
        }

        /// Nil where nothing went wrong.
        private func finish(_ recording: HARRecording?) async -> ToolStatus? {
            do {
                try await recording?.flush()
                return nil
            } catch {
                let failure = ToolFailure(.writeError, error.localizedDescription)
                if plan.display.showsErrors { console.write(failure.line) }
                return failure.status
            }
        }

        /// Closes the files of `-D` and `--trace-ascii`, and writes those of `-c`, `--hsts` and `--timing-json`, each one
        /// even if another one fails.
        ///
        /// - Returns: the status of the first failure; nil where nothing went wrong.
        private func save(_ cookies: [HTTPCookie], _ outlets: Outlets) -> ToolStatus? {
            var failed: ToolStatus?
            func step(_ body: () throws(ToolFailure) -> Void) {
                do throws(ToolFailure) {
                    try body()
                } catch {
                    if plan.display.showsErrors { console.write(error.line) }
                    failed = failed ?? error.status
                }
            }
            for file in [outlets.heads, outlets.trace].compactMap({ $0 }) {
                step { () throws(ToolFailure) in try file.finish() }
            }
            step { () throws(ToolFailure) in
                guard let path = plan.display.timingFile else { return }
                try write(outlets.timing.json, to: path, isPrivate: false)
            }
            step { () throws(ToolFailure) in
                guard let hsts = plan.hsts else { return }
                try hsts.write()
            }
            step { () throws(ToolFailure) in
                guard let path = plan.cookies.jar else { return }
                try write(Data(CookieFile.text(cookies).utf8), to: path, isPrivate: true)
            }
            return failed
        }

        private func write(_ bytes: Data, to path: String, isPrivate: Bool) throws(ToolFailure) {
            guard path == "-" else {
                if isPrivate { return try ReplacedFile.write(bytes, to: path) }
                let file = OutputFile(path)
                try file.write(bytes)
                return try file.finish()
            }
            let shown = isatty(STDOUT_FILENO) == 1 ? Data(VisibleText.escaped([UInt8](bytes)[...])) : bytes
            if let code = writeAll(shown, to: STDOUT_FILENO) { throw .writing("standard output", code) }
        }

        /// A progress line would disturb the displayed lines of a body.
        private var showsProgress: Bool {
            plan.display.showsProgress && console.terminal.isTerminal
                && (isatty(STDOUT_FILENO) == 0 || !plan.loads.contains(where: plan.usesStandardOutput))
        }

        private func runAll(in session: URLSession, _ outlets: Outlets) async -> ToolStatus {
            await withTaskGroup(of: ToolFailure?.self, returning: ToolStatus.self) { group in
                var waiting = plan.loads.indices.makeIterator()
                func addNext() {
                    guard let index = waiting.next() else { return }
                    let load = RepeatedLoad(index: index, plan: plan, outlets: outlets)
                    group.addTask { await load.run(in: session) }
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

    extension LoadPlan {
        /// Whether anything of a load goes to standard output.
        func usesStandardOutput(_ load: PlannedLoad) -> Bool {
            load.destination.isStandardOutput || display.writeOut != nil || display.headFile == "-"
                || display.traceFile == "-"
        }
    }
#endif
