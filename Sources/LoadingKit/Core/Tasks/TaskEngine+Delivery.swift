import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// How what a task loads reaches its consumer.
extension TaskEngine {
    /// Body bytes that may wait in the delegate's mailbox before the load is told to wait.
    static let highWater = 1 << 20

    /// Memory that is worth a read of its own.
    private static let smallestRead = 16 * 1024

    func deliver(_ response: URLResponse) {
        switch consumer {
        case .completion, .continuation:
            expect(response)
        case .bytes(_, let continuation):
            continuation.resume(with: .success(response), from: loop)
            consumer = consumer.afterResponse
        case .reading, .stream:
            break
        case .delegate:
            askDisposition(response)
        case .file:
            place(response)
        }
    }

    private func askDisposition(_ response: URLResponse) {
        guard delegate.takesData, let task = task as? URLSessionDataTask else { return }
        hold(for: .undecided)
        let answer = questions.ask { [self] in decide($0) }
        core.mailbox.post(for: task) { [delegate, session] in delegate.didReceive(response, session, task, answer) }
    }

    private func decide(_ disposition: URLSession.ResponseDisposition) {
        // The response may have been loaded anew in the meantime.
        guard hold.contains(.undecided), !isOver else { return }
        switch disposition {
        case .allow: release(.undecided)
        case .cancel: end(with: URLError(.cancelled))
        case .becomeDownload: becomeDownload()
        case .becomeStream: becomeStream()
        }
    }

    func deliver(_ bytes: UnsafeRawBufferPointer) {
        switch consumer {
        case .completion, .continuation:
            collector.append(bytes) ? checkCollectedSize() : endOutOfMemory()
        case .bytes, .reading, .stream, .delegate, .file:
            fillChunk(bytes)
        }
    }

    func deliver(_ data: Data) {
        switch consumer {
        case .completion, .continuation:
            collector.append(data) ? checkCollectedSize() : endOutOfMemory()
        case .bytes, .reading, .stream, .delegate, .file:
            flushChunk()
            deliverPiece(data)
        }
    }

    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        if parts != nil { return nil }
        switch consumer {
        case .completion, .continuation:
            return collector.space(atMost: count)
        case .bytes, .reading, .stream, .delegate, .file:
            return haveChunk() ? chunk?.room : nil
        }
    }

    func deliverBuffer(_ count: Int) {
        switch consumer {
        case .completion, .continuation:
            collector.filled(count)
            checkCollectedSize()
        case .bytes, .reading, .stream, .delegate, .file:
            chunk?.filled(count)
            flushChunkSoon()
        }
    }

    // MARK: A whole body

    /// A body that will be too long is not begun. What answers `HEAD`, 204 and 304 announces a body that does not come
    /// (RFC 9110 §8.6).
    private func expect(_ response: URLResponse) {
        let expected = response.expectedContentLength
        collector.expect(expected)
        let status = (response as? HTTPURLResponse)?.statusCode
        guard let limit = collectedLimit, expected > Int64(limit), parts == nil,
            task.currentRequest?.httpMethod != "HEAD", status != 204, status != 304
        else { return }
        end(with: LoadFailure.tooLong(limit))
    }

    private var collectedLimit: Int? { core.settings.maximumCollectedBodySize.map { max(0, $0) } }

    private func checkCollectedSize() {
        guard let limit = collectedLimit, collector.size > limit else { return }
        end(with: LoadFailure.tooLong(limit))
    }

    // MARK: Pieces

    /// Bytes that come together are one piece, up to a chunk: fewer calls of the consumer.
    private func fillChunk(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard haveChunk(), let taken = chunk?.append(UnsafeRawBufferPointer(rebasing: rest)) else {
                return endOutOfMemory()
            }
            rest = rest.dropFirst(taken)
            flushChunkSoon()
        }
    }

    private func haveChunk() -> Bool {
        if chunk == nil { chunk = BodyChunk(core.chunks) }
        return chunk != nil
    }

    /// A chunk that is nearly full at once, another when all that comes now has come.
    private func flushChunkSoon() {
        guard let room = chunk?.room.count else { return }
        if room < Self.smallestRead { return flushChunk() }
        guard !willFlushChunk else { return }
        willFlushChunk = true
        loop.atEndOfTurn { [weak self] in
            guard let self else { return }
            willFlushChunk = false
            // What came just after the task was suspended waits until it is resumed.
            if !hold.contains(.suspended) { flushChunk() }
        }
    }

    func flushChunk() {
        guard let full = chunk else { return }
        chunk = nil
        deliverPiece(full.data)
    }

    private func deliverPiece(_ data: Data) {
        guard !data.isEmpty else { return }
        switch consumer {
        case .bytes(let feed, _), .reading(let feed):
            if feed.append(data) == .wait, !isOver { hold(for: .behind) }
        case .stream(let body):
            if body.append(data) == .wait, !isOver { hold(for: .behind) }
        case .file:
            spoolPiece(data)
        case .delegate:
            tellDelegate(data)
        case .completion, .continuation:
            break
        }
    }

    private func tellDelegate(_ data: Data) {
        guard delegate.takesData, let task = task as? URLSessionDataTask else { return }
        if backlog.add(data.count) > Self.highWater, !isOver { hold(for: .behind) }
        core.mailbox.post(for: task) { [delegate, session, loop, backlog] in
            delegate.didReceive(data, session, task)
            if backlog.remove(data.count, wakesBelow: Self.highWater / 2) {
                loop.perform { [weak self] in self?.release(.behind) }
            }
        }
    }

    // MARK: Storing

    /// A delegate that takes the data says what is stored of it, after all of it was told.
    /// The task's end is told when it has said so, and what it has allowed is in the cache.
    func willCache(_ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void) {
        guard case .delegate = consumer, delegate.takesData, let task = task as? URLSessionDataTask else {
            return decide(response)
        }
        let ask = { [self] in
            flushChunk()
            core.mailbox.post(for: task) { [delegate, session, mailbox = core.mailbox] in
                let question = CacheQuestion(task, mailbox, decide)
                delegate.willCache(response, session, task) { question.answer($0) }
            }
        }
        if hold.isEmpty { ask() } else { heldQuestion = ask }
    }

    // MARK: The end

    private func wholeResult(_ error: (any Error)?) -> Result<(Data, URLResponse), any Error> {
        if let error { return .failure(error) }
        guard let response = task.response else {
            return .failure(URLError(LoadFailure.withoutResponse, url: task.currentRequest?.url))
        }
        return .success((collector.take(), response))
    }

    private func endOutOfMemory() {
        end(with: LoadFailure(.dataLengthExceedsMaximum, "the body is larger than the memory there is"))
    }

    func tellDelegate(_ error: (any Error)?) {
        guard delegate.exist else { return }
        core.mailbox.postEnd(of: task) { [delegate, session, task] in
            delegate.didComplete(task.settle(error, heedsCancellation: true), session, task)
            task.letGo()
        }
    }

    /// An asynchronous caller goes on when the delegate, if there is one, was told all that comes before.
    func resume<Value: Sendable>(_ continuation: LoopContinuation<Value>, with result: Result<Value, any Error>) {
        guard delegate.exist else { return continuation.resume(with: result, from: loop) }
        core.mailbox.postEnd(of: task) { continuation.resume(with: result) }
    }

    func tellEnd(_ error: (any Error)?) {
        switch consumer {
        case .delegate:
            tellDelegate(error)
        case .file(let recipient):
            tellEnd(recipient, error)
        case .completion(let handler):
            let response = task.response
            let data = error == nil ? collector.take() : nil
            core.mailbox.post { [task] in
                handler(data, response, error)
                task.letGo()
            }
        case .continuation(let continuation):
            resume(continuation, with: wholeResult(error))
        case .bytes(let feed, let continuation):
            let error = error ?? URLError(LoadFailure.withoutResponse, url: task.currentRequest?.url)
            continuation.resume(with: .failure(error), from: loop)
            feed.finish(error)
        case .reading(let feed):
            feed.finish(error)
        case .stream(let body):
            body.finish(error)
        }
    }
}

extension TaskConsumer {
    fileprivate var afterResponse: TaskConsumer {
        if case .bytes(let feed, _) = self { .reading(feed) } else { self }
    }
}

extension LoadFailure {
    fileprivate static func tooLong(_ limit: Int) -> LoadFailure {
        LoadFailure(
            .dataLengthExceedsMaximum,
            "the body has more than \(limit) bytes, the most that configuration.maximumCollectedBodySize allows: raise that, "
                + "or take the body piece by piece, with bytes(for:), a delegate or a download")
    }

    static var withoutResponse: LoadFailure {
        LoadFailure(.badServerResponse, "the load finished without a response")
    }
}

/// Asks a delegate what is stored of a response. Only the first answer counts; a delegate that lets go of the handler without
/// an answer has declined.
private final class CacheQuestion: Sendable {
    private let task: URLSessionTask
    private let mailbox: DelegateMailbox
    private let decide: Guarded<(@Sendable (CachedURLResponse?) -> Void)?>

    init(_ task: URLSessionTask, _ mailbox: DelegateMailbox, _ decide: @escaping @Sendable (CachedURLResponse?) -> Void)
    {
        self.task = task
        self.mailbox = mailbox
        self.decide = Guarded(decide)
        task.shared.withLock { $0.awaitsCacheAnswer = true }
    }

    deinit { answer(nil) }

    func answer(_ response: CachedURLResponse?) {
        guard let decide = decide.withLock({ $0.take() }) else { return }
        decide(response)
        task.shared.withLock { $0.awaitsCacheAnswer = false }
        mailbox.release(task)
    }
}
