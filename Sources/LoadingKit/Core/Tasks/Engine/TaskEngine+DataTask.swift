import Foundation

/// The calls to the delegate of a data task.
extension TaskEngine {
    var hasDelegate: Bool { delegates != nil }

    var delegateTakesData: Bool { delegates?.takeData == true }

    var mayRefuseCaching: Bool { delegates?.mayRefuseCaching(in: session) == true }

    func deliver(_ piece: Data, _ done: @escaping @Sendable () -> Void) {
        guard let delegates, let task = task as? URLSessionDataTask else { return }
        core.mailbox.post(for: task) { [session] in
            delegates.didReceive(piece, session, task)
            done()
        }
    }

    func requestCaching(of response: CachedURLResponse, _ decide: @escaping @Sendable (CachedURLResponse?) -> Void) {
        guard let delegates, let task = task as? URLSessionDataTask else { return decide(response) }
        core.mailbox.post(for: task) { [session, mailbox = core.mailbox] in
            task.shared.withLock { $0.awaitsCacheAnswer = true }
            // A delegate that releases the handler without an answer has declined.
            let once = OnceAnswer<CachedURLResponse?>(otherwise: nil) { answer in
                decide(answer)
                task.shared.withLock { $0.awaitsCacheAnswer = false }
                mailbox.release(task)
            }
            delegates.willCache(response, session, task) { once.give($0) }
        }
    }

    // MARK: The response

    func requestDisposition(of response: URLResponse) -> SinkAction {
        guard let delegates, delegates.takeData, let task = task as? URLSessionDataTask else { return .proceed }
        let answer = questions.open(about: response) { [self] in decide($0, task) }
        core.mailbox.post(for: task) { [session] in delegates.didReceive(response, session, task, answer) }
        return .hold(.undecided)
    }

    private func decide(_ disposition: URLSession.ResponseDisposition, _ task: URLSessionDataTask) {
        // The response may have been loaded again in the meantime.
        guard hold.contains(.undecided), !isOver else { return }
        switch disposition {
        case .allow: release(.undecided)
        case .cancel: end(with: URLError(.cancelled))
        case .becomeDownload: becomeDownload(task)
        case .becomeStream: becomeStream(task)
        }
    }

    private func becomeDownload(_ task: URLSessionDataTask) {
        let download = URLSessionDownloadTask(session, continuing: task)
        if let background = core.background {
            // The task's date has come, and the delegate was asked about it.
            download.earliestBeginDate = nil
            // The response may be loaded again, after the program has ended.
            become(download, sink) { $0.data?.urlSession($1, dataTask: task, didBecome: download) }
            stop()
            return background.takeOver(download)
        }
        let file = download.makeFileSink(.delegate, core)
        file.open(DownloadFile(), for: self)
        become(download, sink.replaced(by: file)) { $0.data?.urlSession($1, dataTask: task, didBecome: download) }
        // The load may have ended before the answer: only the former sink knows of that.
        if stage.hasSucceeded { perform(sink.finish(for: self)) }
        release(.undecided)
    }

    private func becomeStream(_ task: URLSessionDataTask) {
        let connection: TakenConnection?
        do { connection = try takeConnection() } catch { return end(with: error) }
        let stream = URLSessionStreamTask(session, continuing: task, on: connection)
        let report: @Sendable (TaskDelegates, URLSession) -> Void = {
            $0.data?.urlSession($1, dataTask: task, didBecome: stream)
        }
        if let connection {
            become(stream, sink, report)
            stop()
            stream.engine = StreamEngine(
                stream, continuing: self, on: StreamConnection(connection.stream, early: connection.rest),
                timedBy: clock)
        } else {
            let body = StreamBody(self, core.chunks)
            become(stream, sink.replaced(by: body), report)
            stream.engine = StreamEngine(stream, continuing: self, on: body)
            release(.undecided)
        }
    }
}
