#if CommandLineTool
    import Foundation
    import LoadingKit

    /// One load: the delegate that writes a task's received data, and reports the outcome.
    final class Transfer: NSObject, @unchecked Sendable {  // confined to the transfers' queue
        /// The number of bytes waiting for their turn on standard output from which the load is suspended.
        private static let highWater = 1 << 20

        private let index: Int
        private let plan: LoadPlan
        private let load: PlannedLoad
        private let console: Console
        private let output: OrderedOutput
        private let file: OutputFile?
        private let progress: ProgressDisplay

        private var isWaitingForTurn = false
        private var hadResponse = false
        /// The reason why this transfer itself has ended its task.
        private var ownFailure: ToolFailure?
        private var continuation: CheckedContinuation<ToolFailure?, Never>?

        init(_ index: Int, _ plan: LoadPlan, _ console: Console, _ output: OrderedOutput, _ progress: ProgressDisplay) {
            self.index = index
            self.plan = plan
            self.console = console
            self.output = output
            self.progress = progress
            load = plan.loads[index]
            switch load.destination {
            case .standardOutput: file = nil
            case .file(let path): file = OutputFile(path)
            }
        }

        /// Loads, and returns when everything has ended; nil for success.
        func run(in session: URLSession) async -> ToolFailure? {
            let task = session.dataTask(with: load.request)
            task.delegate = self
            return await withCheckedContinuation { continuation in
                self.continuation = continuation
                session.delegateQueue.addOperation { [self] in
                    progress.begin(index, load.argument)
                    showRequest(task.currentRequest)
                    task.resume()
                }
            }
        }

        // MARK: Writing

        private func write(_ data: Data, for task: URLSessionTask) {
            do throws(ToolFailure) {
                if let file { return try file.write(data) }
                if try output.write(data, for: index) > Self.highWater { waitForTurn(task) }
            } catch {
                end(task, with: error)
            }
        }

        private func waitForTurn(_ task: URLSessionTask) {
            guard !isWaitingForTurn else { return }
            isWaitingForTurn = true
            task.suspend()
            output.whenTurnComes(for: index) { [weak self] in
                self?.isWaitingForTurn = false
                task.resume()
            }
        }

        private func end(_ task: URLSessionTask, with failure: ToolFailure) {
            if ownFailure == nil { ownFailure = failure }
            task.cancel()
        }

        // MARK: Displaying

        private func show(_ text: String) {
            let isMidLine = file == nil && !output.isAtLineStart && isatty(STDOUT_FILENO) == 1
            console.write((isMidLine ? "\n" : "") + text)
        }

        private func showHead(_ response: URLResponse, for task: URLSessionTask) {
            let head = ResponseHead(response)
            if plan.display.isVerbose { console.write(head.verbose) }
            if plan.display.showsHead { write(Data(head.bytes.utf8), for: task) }
        }

        private func showRequest(_ request: URLRequest?) {
            guard plan.display.isVerbose, let request else { return }
            console.write(RequestHead(request).verbose)
        }
    }

    // MARK: - The task's delegate

    extension Transfer: URLSessionDataDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            // A redirect that is not followed is the response.
            guard plan.followsRedirects else { return completionHandler(nil) }
            showHead(response, for: task)
            showRequest(request)
            completionHandler(request)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            hadResponse = true
            if let refusal = refusal(of: response) {
                if plan.display.isVerbose { console.write(ResponseHead(response).verbose) }
                ownFailure = refusal
                return completionHandler(.cancel)
            }
            showHead(response, for: dataTask)
            progress.expect(index, response.expectedContentLength)
            completionHandler(.allow)
        }

        private func refusal(of response: URLResponse) -> ToolFailure? {
            guard plan.failsOnHTTPError, let response = response as? HTTPURLResponse, response.statusCode >= 400 else {
                return nil
            }
            return ToolFailure(.httpError, "the server answered \(ResponseHead.status(of: response))")
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            progress.receive(index, data.count)
            if ownFailure == nil { write(data, for: dataTask) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
        {
            progress.finish(index)
            let terminal = console.terminal
            if plan.display.isVerbose { show(ConnectionFacts.text(metrics)) }
            if plan.display.showsTiming { show(Waterfall(Timeline.all(metrics, load.request), terminal).text) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            progress.finish(index)
            var failure = ownFailure ?? error.map { ToolFailure($0, hadResponse: hadResponse) }
            do throws(ToolFailure) {
                try finishOutput(succeeded: failure == nil)
            } catch {
                failure = failure ?? error
            }
            continuation?.resume(returning: failure)
            continuation = nil
        }

        /// An empty body makes an empty file. A failed load leaves the existing file, or the received part.
        private func finishOutput(succeeded: Bool) throws(ToolFailure) {
            guard let file else { return try output.finish(index) }
            if succeeded { try file.open() }
            try file.finish()
        }
    }

    /// The queue for all events of a run's transfers, one at a time: delegate calls and timers.
    struct DelegateQueue {
        let dispatch = DispatchQueue(label: "loadkit.transfers")
        let operations = OperationQueue()

        init() {
            operations.maxConcurrentOperationCount = 1
            operations.underlyingQueue = dispatch
        }
    }
#endif
