import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// Passes a data task's loaded data to its delegate, piece by piece; or everything but the body, which is written to a
/// file.
final class DelegateSink: PieceSink, @unchecked Sendable {  // confined to the task's loop, but for the atomic
    /// The number of body bytes in the delegate's mailbox from which the load has to wait.
    private static let highWater = 1 << 20

    private let task: URLSessionDataTask
    @exclusivity(unchecked) var pieces: PieceBuffer
    /// Body bytes in the delegate's mailbox.
    private let postedBytes = Atomic<Int>(0)
    /// The received part of the body, where the delegate gets the complete body; nil where it gets pieces.
    private var whole: Data?
    /// The largest number of bytes of a complete body; nil for no limit.
    private let limit: Int?
    /// The response that the delegate decides about, once nothing is held back.
    private var unaskedCaching: (response: CachedURLResponse, decide: @Sendable (CachedURLResponse?) -> Void)?

    /// Writes the body, where the delegate does not get it.
    private let spool: BodySpool?

    /// - Parameter file: the file for the body, where the delegate does not get it.
    init(_ task: URLSessionDataTask, _ core: SessionCore, _ file: (any SpooledFile)? = nil) {
        self.task = task
        pieces = PieceBuffer(core.chunks)
        spool = file.map { BodySpool(core.loop, $0) }
        whole = file != nil || task.prefersIncrementalDelivery ? nil : Data()
        limit = core.settings.maximumCollectedBodySize.map { max(0, $0) }
    }

    func attach(to engine: TaskEngine) {
        guard let spool else { return }
        spool.onWritten = { [weak spool, weak engine] _ in
            guard let engine, spool?.isBehind == false, engine.hold.contains(.behind) else { return }
            engine.release(.behind)
        }
        spool.onFailure = { [weak engine] in engine?.end(with: $0) }
    }

    // MARK: The response

    func receive(_ response: URLResponse, isPart: Bool, for engine: TaskEngine) -> SinkAction {
        // The response may be loaded again.
        if whole != nil { whole = Data() }
        guard let delegates = engine.delegates, delegates.takeData else { return .proceed }
        let answer = engine.questions.open { [self] in decide($0, engine) }
        engine.core.mailbox.post(for: task) { [task, session = engine.session] in
            delegates.didReceive(response, session, task, answer)
        }
        return .hold(.undecided)
    }

    private func decide(_ disposition: URLSession.ResponseDisposition, _ engine: TaskEngine) {
        // The response may have been loaded again in the meantime.
        guard engine.hold.contains(.undecided), !engine.isOver else { return }
        switch disposition {
        case .allow: engine.release(.undecided)
        case .cancel: engine.end(with: URLError(.cancelled))
        case .becomeDownload: becomeDownload(engine)
        case .becomeStream: becomeStream(engine)
        }
    }

    private func becomeDownload(_ engine: TaskEngine) {
        let download = URLSessionDownloadTask(engine.session, continuing: task)
        if let background = engine.core.background {
            // The response may be loaded again, after the program has ended.
            engine.become(download, self) { [task] delegates, session in delegates.didBecome(download, session, task) }
            engine.stop()
            return background.takeOver(download)
        }
        let sink = FileSink(download, .delegate, engine.core)
        sink.open(DownloadFile(), for: engine)
        engine.become(download, sink) { [task] delegates, session in delegates.didBecome(download, session, task) }
        engine.release(.undecided)
    }

    private func becomeStream(_ engine: TaskEngine) {
        let connection: TakenConnection?
        do { connection = try engine.takeConnection() } catch { return engine.end(with: error) }
        let stream = URLSessionStreamTask(engine.session, continuing: task, through: connection?.tunnel)
        let report: @Sendable (TaskDelegates, URLSession) -> Void = { [task] delegates, session in
            delegates.didBecome(stream, session, task)
        }
        if let connection {
            engine.become(stream, self, report)
            engine.stop()
            stream.engine = StreamEngine(
                stream, continuing: engine, on: StreamConnection(connection.stream, early: connection.rest))
        } else {
            let body = StreamBody(engine)
            engine.become(stream, body, report)
            stream.engine = StreamEngine(stream, continuing: engine, on: body)
            engine.release(.undecided)
        }
    }

    /// A file gets the unchanged body.
    func split(_ response: URLResponse, by reader: MixedReplaceReader) -> any TaskSink {
        spool == nil ? MixedReplaceSink(self, response, reader) : self
    }

    // MARK: The body

    func deliver(_ piece: Data, for engine: TaskEngine) -> SinkAction {
        if let spool {
            spool.append(piece, of: task.countOfBytesExpectedToReceive)
            return spool.isBehind ? .hold(.behind) : .proceed
        }
        return whole == nil ? post(piece, for: engine) : collect(piece)
    }

    private func collect(_ piece: Data) -> SinkAction {
        whole?.append(piece)
        guard let limit, let count = whole?.count, count > limit else { return .proceed }
        whole = Data()
        return .fail(LoadFailure.tooLong(limit))
    }

    /// Delivers the collected bytes, and waits for pending writes.
    func finish(for engine: TaskEngine) -> SinkAction {
        guard whole != nil || spool != nil else { return .proceed }
        engine.perform(flush(for: engine))
        if whole != nil, !engine.isOver { deliverWhole(engine) }
        guard let spool, !spool.isIdle else { return .proceed }
        spool.settle { if !engine.isOver { engine.release(.completing) } }
        return .hold(.completing)
    }

    func partDidEnd(for engine: TaskEngine) -> SinkAction {
        whole == nil ? flush(for: engine) : finish(for: engine)
    }

    private func deliverWhole(_ engine: TaskEngine) {
        guard let body = whole, !body.isEmpty else { return }
        whole = Data()
        _ = post(body, for: engine)
    }

    private func post(_ piece: Data, for engine: TaskEngine) -> SinkAction {
        guard let delegates = engine.delegates, delegates.takeData else { return .proceed }
        let posted = postedBytes.wrappingAdd(piece.count, ordering: .relaxed).newValue
        engine.core.mailbox.post(for: task) { [self] in
            delegates.didReceive(piece, engine.session, task)
            let (before, after) = postedBytes.wrappingSubtract(piece.count, ordering: .relaxed)
            guard before >= Self.highWater / 2, after < Self.highWater / 2 else { return }
            engine.loop.perform { [weak engine] in engine?.release(.behind) }
        }
        return posted > Self.highWater ? .hold(.behind) : .proceed
    }

    // MARK: Storing

    /// A delegate that receives the data decides about the stored response, after it has received all data. The task's
    /// end is reported after the delegate has answered, and the permitted response is in the cache.
    func willCache(
        _ response: CachedURLResponse, for engine: TaskEngine,
        decide: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard engine.delegates?.takeData == true else { return decide(response) }
        unaskedCaching = (response, decide)
        if engine.hold.isEmpty { requestCaching(engine) }
    }

    func holdDidEnd(for engine: TaskEngine) -> SinkAction {
        requestCaching(engine)
        return .proceed
    }

    private func requestCaching(_ engine: TaskEngine) {
        guard let delegates = engine.delegates, let (response, decide) = unaskedCaching.take() else { return }
        engine.perform(flush(for: engine))
        deliverWhole(engine)
        let mailbox = engine.core.mailbox
        mailbox.post(for: task) { [task, session = engine.session] in
            let question = CacheQuestion(task, mailbox, decide)
            delegates.willCache(response, session, task) { question.answer($0) }
        }
    }

    // MARK: The end

    func settle(_ error: any Error, for engine: TaskEngine, _ report: @escaping (any Error) -> Void) {
        guard let spool else { return report(error) }
        spool.settle { report(error) }
    }

    func reportEnd(_ error: (any Error)?, for engine: TaskEngine) {
        unaskedCaching = nil
        if error == nil { deliverWhole(engine) }
        engine.reportEnd(error, to: .delegate) { _ in engine.reportEndToDelegate(error) }
    }
}

/// Asks a delegate about the response to store. Only the first answer counts; a delegate that releases the handler
/// without an answer has declined.
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
