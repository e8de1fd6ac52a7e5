#if CommandLineTool
    import Foundation
    import LoadingKit
    import LoadingKitCore

    /// One attempt of a load: the delegate that writes a task's received data, and reports the outcome.
    final class Transfer: NSObject, @unchecked Sendable {  // confined to the transfers' queue
        let index: Int
        let plan: LoadPlan
        let load: PlannedLoad
        let outlets: Outlets
        let attempt: Int
        /// Seconds between the first attempt's start and this one's.
        private let elapsed: Double

        var writer: BodyWriter
        /// The metrics, once they are complete.
        var metrics: URLSessionTaskMetrics?
        var response: URLResponse?
        var redirectCount = 0
        /// Whether a request or bytes of its body were sent, or a response has come.
        var isConnected = false
        var conversation: Conversation?
        private var hasHeads = false
        private var retryAfter: Double?
        /// Seconds until the next attempt, which the response's status requires.
        private var repetition: Double?
        private let start = DispatchTime.now()
        /// The reason why this transfer itself has ended its task.
        private var ownFailure: ToolFailure?
        /// Whether the task was ended because nothing more is needed.
        private var isComplete = false
        private var continuation: CheckedContinuation<TransferOutcome, Never>?
        private let input: StandardInput

        /// Bytes of a WebSocket message.
        private static let largestMessage: Int64 = 1 << 26

        /// - Parameter created: the files that earlier attempts have made.
        init(
            _ index: Int, _ load: PlannedLoad, _ plan: LoadPlan, _ outlets: Outlets, attempt: Int, elapsed: Double,
            created: Set<String>
        ) {
            (self.index, self.load, self.plan, self.outlets) = (index, load, plan, outlets)
            (self.attempt, self.elapsed) = (attempt, elapsed)
            writer = BodyWriter(index, load, plan, outlets, created: created)
            if case .stream(let path, _) = plan.content {
                input = StandardInput(path: path)
            } else {
                input = StandardInput()
            }
        }

        /// Loads, and returns when everything has ended.
        func run(in session: URLSession) async -> TransferOutcome {
            let task = makeTask(in: session)
            task.delegate = self
            task.observeMessages = { [weak self, weak task, queue = outlets.queue] event in
                queue.async { [weak self, weak task] in
                    if let task { self?.observe(event, task) }
                }
            }
            return await withCheckedContinuation { continuation in
                self.continuation = continuation
                session.delegateQueue.addOperation { [self] in
                    if !load.isConversation { outlets.progress.begin(index, load.label) }
                    if load.request.url?.speaksHTTP == false { show(MessageText.request(load.request)) }
                    limitTime(task)
                    task.resume()
                }
            }
        }

        private func makeTask(in session: URLSession) -> URLSessionTask {
            var request = load.requestToSend(plan.content)
            if load.isConversation {
                let task = session.webSocketTask(with: request)
                task.maximumMessageSize = Int(clamping: plan.rules.maximumSize ?? Self.largestMessage)
                return task
            }
            switch plan.content {
            case .upload(let path?):
                return session.uploadTask(with: request, fromFile: URL(fileURLWithPath: path))
            case .upload(nil), .stream: request.httpBodyStream = input.makeStream()
            case .form(let form):
                request.setValue(form.contentLength.map { String($0) }, forHTTPHeaderField: "Content-Length")
                request.httpBodyStream = form.makeStream()
            case .data(let data): request.httpBody = data.bytes
            case .none, .query: break
            }
            return session.dataTask(with: request)
        }

        private func limitTime(_ task: URLSessionTask) {
            if let limit = plan.rules.connectTimeout {
                let reason = "there was no connection within \(TimeScale.duration(limit))"
                end(task, after: limit, reason) { !$0.isConnected }
            }
            // The session's timeout does not run while the task is suspended, so the tool has its own. The session's
            // timeout ends the load 0.05 seconds earlier where both run, because its error names the steps of the load.
            if let limit = plan.rules.maximumTime {
                end(task, after: limit + 0.05, "the load took more than \(limit) seconds (--max-time)") { _ in true }
            }
        }

        private func end(
            _ task: URLSessionTask, after limit: Double, _ reason: String,
            where applies: @escaping @Sendable (Transfer) -> Bool
        ) {
            outlets.queue.asyncAfter(deadline: .now() + limit) { [weak self, weak task] in
                guard let self, let task, continuation != nil, applies(self) else { return }
                end(task, with: ToolFailure(.timedOut, reason))
            }
        }

        func end(_ task: URLSessionTask, with failure: ToolFailure) {
            if ownFailure == nil { ownFailure = failure }
            task.cancel()
        }

        // MARK: Displaying

        func show(_ text: String) {
            guard plan.display.isVerbose else { return }
            let isMidLine = writer.isMidLineOfTerminal
            outlets.console.write((isMidLine ? "\n" : "") + text)
        }

        private func observe(_ event: MessageEvent, _ task: URLSessionTask) {
            hasHeads = true
            isConnected = true
            switch event {
            case .willSend(let lines, let transaction):
                let facts = ConnectionFacts.lines(transaction)
                show(facts.map { "* \(PlainText.line($0))\n" }.joined() + MessageText.sent(lines, outlets.errors))
                trace(facts.map(TraceText.information).joined(), task)
                let head = lines.map { "\(MessageText.withoutSecret($0))\r\n" }.joined() + "\r\n"
                trace(TraceText.event("=> Send header", Array(head.utf8)), task)
            case .didReceive(let response, let reason):
                if response.statusCode >= 200 { retryAfter = response.retryDelay }
                showHead(ResponseHead(response, reason: reason), response, task)
            }
        }

        private func showHead(_ head: ResponseHead, _ response: URLResponse, _ task: URLSessionTask) {
            show(head.verbose(outlets.errors))
            let bytes = Data(head.bytes.utf8)
            // `-o -` leaves the body as it is, not the heads.
            let shown = outlets.screen.map { Data(head.shown(on: $0).utf8) } ?? bytes
            trace(TraceText.event("<= Recv header", bytes), task)
            write(task) { () throws(ToolFailure) in
                if let heads = outlets.heads {
                    if heads.path == "-" { try writer.writeToOutput(shown, task) } else { try heads.write(bytes) }
                }
                guard plan.display.showsHead, refusal(of: response) == nil else { return }
                if load.destination.isStandardOutput {
                    try writer.writeToOutput(shown, task)
                } else {
                    writer.heads += bytes
                }
            }
        }

        private func trace(_ text: @autoclosure () -> String, _ task: URLSessionTask) {
            guard let file = outlets.trace else { return }
            write(task) { () throws(ToolFailure) in
                let bytes = Data(text().utf8)
                if file.path == "-" { try writer.writeToOutput(bytes, task) } else { try file.write(bytes) }
            }
        }

        private func write(_ task: URLSessionTask, _ body: () throws(ToolFailure) -> Void) {
            do throws(ToolFailure) {
                try body()
            } catch {
                end(task, with: error)
            }
        }
    }

    // MARK: - The task's delegate

    extension Transfer: URLSessionDataDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            // A redirect that is not followed is the response.
            guard plan.rules.followsRedirects else { return completionHandler(nil) }
            if let limit = plan.rules.maximumRedirects, redirectCount >= limit {
                end(
                    task, with: ToolFailure(.tooManyRedirects, "there were more than \(limit) redirects (--max-redirs)")
                )
                return completionHandler(nil)
            }
            redirectCount += 1
            completionHandler(request)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            switch plan.content {
            case .form(let form): completionHandler(form.makeStream())
            case .stream(path: let path, isPipe: false): completionHandler(StandardInput(path: path).makeStream())
            case .none, .data, .query, .upload, .stream: completionHandler(nil)
            }
        }

        /// Over ftp an upload's response comes after its end.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            isConnected = true
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            self.response = response
            isConnected = true
            if !hasHeads { showHead(ResponseHead(response), response, dataTask) }
            do throws(ToolFailure) {
                repetition = try planRetry(after: nil, (response as? HTTPURLResponse)?.statusCode)
                if repetition != nil { throw ToolFailure(.httpError, answer(response)) }
                if let refusal = refusal(of: response) { throw refusal }
                isComplete = try !writer.begin(response)
                if let limit = plan.rules.maximumSize, response.expectedContentLength > limit { throw .tooLarge(limit) }
                outlets.progress.expect(index, response.expectedContentLength)
                completionHandler(isComplete ? .cancel : .allow)
            } catch {
                if ownFailure == nil { ownFailure = error }
                completionHandler(.cancel)
            }
        }

        private func answer(_ response: URLResponse) -> String {
            "the server answered \((response as? HTTPURLResponse).map(\.statusText) ?? "")"
        }

        /// Returns the seconds until the next attempt; nil if the load is not attempted again. Throws if the next
        /// attempt would need standard input or a pipe that was already read.
        private func planRetry(after failure: ToolFailure?, _ status: Int?) throws(ToolFailure) -> Double? {
            // An open conversation has read lines of standard input, which another one could not send.
            if failure?.status == .bodyCannotRewind || conversation != nil { return nil }
            let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
            let delay = plan.rules.retry.delay(
                after: failure, status: status, retryAfter: retryAfter, attempt: attempt, elapsed: elapsed + seconds)
            if delay != nil, let name = plan.content.nameOfInput, !input.withdraw() {
                let reason = failure?.reason ?? response.map(answer) ?? ""
                throw ToolFailure(.bodyCannotRewind, "\(reason); \(name) was already sent")
            }
            return delay
        }

        private func refusal(of response: URLResponse) -> ToolFailure? {
            guard plan.rules.errorStatus == .fails, let response = response as? HTTPURLResponse,
                response.statusCode >= 400, !load.isComplete(response)
            else { return nil }
            return ToolFailure(.httpError, answer(response))
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            outlets.progress.receive(index, data.count)
            guard ownFailure == nil else { return }
            trace(TraceText.event("<= Recv data", data), dataTask)
            write(dataTask) { () throws(ToolFailure) in
                try writer.write(data, dataTask)
                if let limit = plan.rules.maximumSize, writer.count > limit { throw .tooLarge(limit) }
                if let rate = plan.rules.rate { writer.keep(to: rate, dataTask) }
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
        {
            self.metrics = metrics
            outlets.progress.finish(index)
            if !hasHeads { show(ConnectionFacts.text(metrics)) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            outlets.progress.finish(index)
            if let record = (error as? URLError)?.loadRecord {
                show(record.split(separator: "\n").map { "* \(PlainText.line(String($0)))\n" }.joined())
            }
            conversation?.end()
            if load.isConversation, response == nil, let answer = task.response as? HTTPURLResponse, ownFailure == nil {
                ownFailure = ToolFailure(
                    .httpError, "the server opens no WebSocket: \(answer.statusText)")
            }
            let refusesKey = (session.delegate as? ChallengeAnswers)?.didRefuseKey.withLock { $0 } == true
            // A refused key cancels the load. Other loads of the session may fail for other reasons.
            let isCancelled = (error as? URLError)?.code == .cancelled
            if isCancelled, response == nil, refusesKey, ownFailure == nil {
                ownFailure = ToolFailure(.pinnedKey, "the server's key is none of --pinnedpubkey")
            }
            var outcome = TransferOutcome(
                failure: isComplete ? nil : ownFailure ?? error.map { ToolFailure($0, hadResponse: response != nil) },
                status: (response as? HTTPURLResponse)?.statusCode)
            do throws(ToolFailure) {
                outcome.delay = repetition
                if outcome.delay == nil { outcome.delay = try planRetry(after: outcome.failure, nil) }
            } catch {
                outcome.failure = error
            }
            if outcome.delay == nil { finish(&outcome, task) } else { outcome.openPath = writer.openPath }
            if let metrics {
                outlets.timing.add(index, metrics, load.request, outcome.failure?.status ?? .success)
            }
            continuation?.resume(returning: outcome)
            continuation = nil
        }

        /// Each step runs even if the step before it fails: the next load waits for the last step.
        private func finish(_ outcome: inout TransferOutcome, _ task: URLSessionTask) {
            func step(_ body: () throws(ToolFailure) -> Void) {
                do throws(ToolFailure) { try body() } catch { outcome.failure = outcome.failure ?? error }
            }
            step { () throws(ToolFailure) in
                try writer.finish(succeeded: outcome.failure == nil, task)
                if plan.rules.errorStatus == .failsWithBody, !isComplete, let response, (outcome.status ?? 0) >= 400 {
                    outcome.failure = outcome.failure ?? ToolFailure(.httpError, answer(response))
                }
            }
            step { () throws(ToolFailure) in
                guard let text = plan.display.writeOut else { return }
                let written = WriteOut(self, outcome.failure, task).text(text, outlets)
                outlets.console.write(written.errors)
                try writer.writeToOutput(Data(written.output.utf8), task)
            }
            step { () throws(ToolFailure) in try writer.finishOutput() }
        }
    }

    extension ToolFailure {
        fileprivate static func tooLarge(_ limit: Int64) -> ToolFailure {
            ToolFailure(.tooLarge, "the body has more than \(limit) bytes (--max-filesize)")
        }
    }

    extension URL {
        fileprivate var speaksHTTP: Bool {
            let scheme = scheme?.lowercased() ?? ""
            return ["http", "https", "ws", "wss"].contains(scheme) || scheme.hasSuffix("+unix")
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
