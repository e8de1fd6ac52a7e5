import Foundation
import LoadingKitPrimitives

/// The events of a task's load.
extension TaskEngine: LoadReceiver {
    func receive(_ response: URLResponse) -> Flow {
        if let reader = MixedReplaceReader(of: response) { sink = sink.split(response, by: reader) }
        note(response)
        perform(sink.receive(response, isPart: false, for: self))
        return stage.flow()
    }

    func note(_ response: URLResponse) {
        noteActivity()
        let (hasProgress, former) = task.shared.withLock { shared in
            shared.expectedToReceive = response.expectedContentLength
            return (shared.progress != nil, exchange(&shared.response, for: response))
        }
        withExtendedLifetime(former) {}
        if hasProgress { task.updateProgress() }
        log.didReceive(response, loop.now)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        noteReceived(bytes.count)
        perform(sink.receive(bytes, for: self))
        return stage.flow()
    }

    func receive(_ data: Data) -> Flow {
        noteReceived(data.count)
        // The indices of the program's data start at 0. A handler's piece, or a range of a stored response, may be a
        // slice.
        perform(sink.receive(data.startIndex == 0 ? data : Data(data), for: self))
        return stage.flow()
    }

    func receive(coded bytes: UnsafeRawBufferPointer) { sink.receive(coded: bytes) }

    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? { sink.buffer(atMost: count) }

    func bodyBufferFilled(_ count: Int) -> Flow {
        noteReceived(count)
        perform(sink.bufferWasFilled(count, for: self))
        return stage.flow()
    }

    private func noteReceived(_ count: Int) {
        noteActivity()
        // The notification of the task's suspension may not have arrived here yet.
        if task.noteReceived(count) == .suspended { holdSuspended() }
    }

    func receive(informational response: HTTPURLResponse) {
        noteActivity()
        // A server may send many of them. They are advisory, so the load does not wait for the delegate.
        guard let delegates, postedInterims.load(ordering: .relaxed) < Self.mostPostedInterims else { return }
        postedInterims.wrappingAdd(1, ordering: .relaxed)
        core.mailbox.post(for: task) { [self, session, task] in
            delegates.task?.urlSession(session, task: task, didReceiveInformationalResponse: response)
            postedInterims.wrappingSubtract(1, ordering: .relaxed)
        }
    }

    /// The number of interim responses in the delegate's mailbox from which further ones are dropped.
    private static let mostPostedInterims = 64

    func willCache(_ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void) {
        sink.willCache(response, for: self, decide: decide)
    }

    func didSendBody(_ count: Int, expected: Int64) {
        noteActivity()
        let count = Int64(count)
        let (before, _) = task.sentCount.wrappingAdd(count, ordering: .relaxed)
        task.countOfBytesExpectedToSend = expected
        task.updateProgress()
        guard let delegates, postedSent?.add(count, after: before, of: expected) != true else { return }
        let posted = PostedBytes(count, after: before, of: expected)
        postedSent = posted
        core.mailbox.post(for: task) { [session, task] in
            let (count, total) = posted.take()
            delegates.didSend(session, task, count, total: total, expected: expected)
        }
    }

    func bodyWillBeSentAgain(_ count: Int64) {
        task.countOfBytesSent = max(0, task.countOfBytesSent &- count)
        task.updateProgress()
    }

    func queueStateDidChange(isQueued: Bool) {
        clock.isQueued = isQueued
        noteActivity()
    }

    func collect(_ transaction: @autoclosure () -> TransactionRecord) {
        if delegates != nil { log.append(transaction()) }
    }

    func finish() {
        log.loadDidFinish(loop.now)
        endInOrder(.success(()))
    }

    func fail(_ error: any Error) {
        if let request = takeRequestToRetry(after: error) {
            waitForNetwork(with: request)
        } else if let request = requestToLoadAnew(after: error) {
            reload(request)
        } else {
            endInOrder(.failure(error))
        }
    }
}
