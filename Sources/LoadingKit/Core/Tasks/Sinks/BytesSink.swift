import Foundation

/// Passes the response to an asynchronous caller, and then the body as the caller reads it.
final class BytesSink: PieceSink {
    @exclusivity(unchecked) var pieces: PieceBuffer
    private let feed: BodyFeed
    /// The caller, until it has the response.
    private var continuation: LoopContinuation<URLResponse>?

    init(_ feed: BodyFeed, _ continuation: LoopContinuation<URLResponse>, _ pool: ChunkPool) {
        self.feed = feed
        self.continuation = continuation
        pieces = PieceBuffer(pool)
    }

    func attach(to engine: any SinkEngine) {
        feed.onDemand = { [weak engine] in engine?.release(.behind) }
        feed.onCancel = { [weak engine] in engine?.cancel() }
    }

    func receive(_ response: URLResponse, isPart: Bool, for engine: any SinkEngine) -> SinkAction {
        continuation.take()?.resume(with: .success(response), from: engine.loop)
        return .proceed
    }

    func deliver(_ piece: Data, for engine: any SinkEngine) -> SinkAction {
        feed.append(piece) == .wait ? .hold(.behind) : .proceed
    }

    func reportEnd(_ error: (any Error)?, for engine: any SinkEngine) {
        engine.reportEnd(error, to: .caller) { _ in
            guard let continuation = continuation.take() else { return feed.finish(error) }
            let error = error ?? URLError(LoadFailure.withoutResponse, url: engine.currentRequest?.url)
            continuation.resume(with: .failure(error), from: engine.loop)
            feed.finish(error)
        }
    }
}
