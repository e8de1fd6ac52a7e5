import Foundation
import Synchronization

/// Passes a data task's loaded data to its delegate, piece by piece; or everything but the body, which is written to a
/// file.
final class DelegateSink: PieceSink, @unchecked Sendable {  // confined to the task's loop, but for the atomic
    /// The number of body bytes in the delegate's mailbox from which the load has to wait.
    private static let highWater = 1 << 20

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

    /// - Parameters:
    ///   - spool: writes the body, where the delegate does not get it.
    ///   - isIncremental: whether the delegate gets the body piece by piece.
    ///   - limit: the largest number of bytes of a complete body; nil for no limit.
    init(_ pool: ChunkPool, _ spool: BodySpool?, isIncremental: Bool, limit: Int?) {
        pieces = PieceBuffer(pool)
        self.spool = spool
        whole = spool != nil || isIncremental ? nil : Data()
        self.limit = limit.map { max(0, $0) }
    }

    func attach(to engine: any SinkEngine) {
        guard let spool else { return }
        spool.onWritten = { [weak spool, weak engine] _ in
            guard let engine, spool?.isBehind == false, engine.hold.contains(.behind) else { return }
            engine.release(.behind)
        }
        spool.onFailure = { [weak engine] in engine?.end(with: $0) }
    }

    // MARK: The response

    func receive(_ response: URLResponse, isPart: Bool, for engine: any SinkEngine) -> SinkAction {
        // A later response replaces the one before and its body. A delegate that gets pieces has the last ones first.
        if whole == nil, spool == nil { engine.perform(flush(for: engine)) } else { _ = pieces.take() }
        if whole != nil { whole = Data() }
        return engine.requestDisposition(of: response)
    }

    /// A file gets the unchanged body.
    func split(_ response: URLResponse, by reader: MixedReplaceReader) -> any TaskSink {
        spool == nil ? MixedReplaceSink(self, response, reader) : self
    }

    // MARK: The body

    func deliver(_ piece: Data, for engine: any SinkEngine) -> SinkAction {
        if let spool {
            spool.append(piece, of: engine.expectedToReceive)
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
    func finish(for engine: any SinkEngine) -> SinkAction {
        guard whole != nil || spool != nil else { return .proceed }
        engine.perform(flush(for: engine))
        if whole != nil, !engine.isOver { deliverWhole(engine) }
        guard let spool, !spool.isIdle else { return .proceed }
        spool.settle { if !engine.isOver { engine.release(.completing) } }
        return .hold(.completing)
    }

    func partDidEnd(for engine: any SinkEngine) -> SinkAction {
        whole == nil ? flush(for: engine) : finish(for: engine)
    }

    private func deliverWhole(_ engine: any SinkEngine) {
        guard let body = whole, !body.isEmpty else { return }
        whole = Data()
        _ = post(body, for: engine)
    }

    private func post(_ piece: Data, for engine: any SinkEngine) -> SinkAction {
        guard engine.delegateTakesData else { return .proceed }
        let posted = postedBytes.wrappingAdd(piece.count, ordering: .relaxed).newValue
        engine.deliver(piece) { [self] in
            let (before, after) = postedBytes.wrappingSubtract(piece.count, ordering: .relaxed)
            guard before >= Self.highWater / 2, after < Self.highWater / 2 else { return }
            engine.loop.perform { [weak engine] in engine?.release(.behind) }
        }
        return posted > Self.highWater ? .hold(.behind) : .proceed
    }

    // MARK: Storing

    /// A delegate that receives the data decides about the stored response, after it has received all data. The task's
    /// end is reported after the delegate has answered, and the permitted response is in the cache.
    ///
    /// The delegate is not asked about an incomplete response, which is stored only if the delegate has no such method.
    func willCache(
        _ response: CachedURLResponse, for engine: any SinkEngine,
        decide: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard engine.delegateTakesData else { return decide(response) }
        if response.isIncomplete { return decide(engine.mayRefuseCaching ? nil : response) }
        unaskedCaching = (response, decide)
        if engine.hold.isEmpty { requestCaching(engine) }
    }

    func holdDidEnd(for engine: any SinkEngine) -> SinkAction {
        requestCaching(engine)
        return .proceed
    }

    private func requestCaching(_ engine: any SinkEngine) {
        guard let (response, decide) = unaskedCaching.take() else { return }
        engine.perform(flush(for: engine))
        deliverWhole(engine)
        engine.requestCaching(of: response, decide)
    }

    // MARK: The end

    func settle(_ error: any Error, for engine: any SinkEngine, _ report: @escaping (any Error) -> Void) {
        guard let spool else { return report(error) }
        spool.settle { report(error) }
    }

    func reportEnd(_ error: (any Error)?, for engine: any SinkEngine) {
        unaskedCaching = nil
        if error == nil { deliverWhole(engine) }
        engine.reportEnd(error, to: .delegate) { _ in engine.reportEndToDelegate(error) }
    }
}
