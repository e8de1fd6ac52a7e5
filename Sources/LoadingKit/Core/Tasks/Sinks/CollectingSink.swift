import Foundation

/// Collects a body, for a completion handler or an asynchronous caller that gets the complete body.
final class CollectingSink: TaskSink {
    enum Recipient {
        case completion(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
        case continuation(LoopContinuation<(Data, URLResponse)>)
    }

    private let recipient: Recipient
    /// The largest number of bytes that are collected; nil for no limit.
    private let limit: Int?
    @exclusivity(unchecked) private var collector = BodyCollector()

    /// - Parameter limit: the largest number of bytes that are collected; nil for no limit.
    init(_ recipient: Recipient, limit: Int?) {
        self.recipient = recipient
        self.limit = limit.map { max(0, $0) }
    }

    func attach(to engine: any SinkEngine) {
        if isResultAwaited(engine) { engine.loop.awaitedResults += 1 }
    }

    func loadDidStop(_ engine: any SinkEngine) -> SinkAction {
        if isResultAwaited(engine) { engine.loop.awaitedResults -= 1 }
        return .proceed
    }

    /// Whether the loop itself resumes the caller.
    private func isResultAwaited(_ engine: any SinkEngine) -> Bool {
        if case .continuation = recipient { !engine.hasDelegate } else { false }
    }

    /// A body that will be too long is not received. A response to `HEAD`, a 204 and a 304 announce a body that does
    /// not follow (RFC 9110 §8.6).
    func receive(_ response: URLResponse, isPart: Bool, for engine: any SinkEngine) -> SinkAction {
        // A later response, or a part of one, replaces the one before and its body.
        _ = collector.take()
        let expected = response.expectedContentLength
        collector.expect(expected)
        guard let limit, expected > Int64(limit), !isPart else { return .proceed }
        let status = (response as? HTTPURLResponse)?.statusCode
        guard engine.currentRequest?.httpMethod != "HEAD", status != 204, status != 304 else { return .proceed }
        return .fail(LoadFailure.tooLong(limit))
    }

    func receive(_ bytes: UnsafeRawBufferPointer, for engine: any SinkEngine) -> SinkAction {
        collector.append(bytes) ? checkSize() : .fail(LoadFailure.outOfMemory)
    }

    func receive(_ data: Data, for engine: any SinkEngine) -> SinkAction {
        collector.append(data) ? checkSize() : .fail(LoadFailure.outOfMemory)
    }

    func buffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? { collector.space(atMost: count) }

    func bufferWasFilled(_ count: Int, for engine: any SinkEngine) -> SinkAction {
        collector.filled(count)
        return checkSize()
    }

    private func checkSize() -> SinkAction {
        guard let limit, collector.size > limit else { return .proceed }
        return .fail(LoadFailure.tooLong(limit))
    }

    func reportEnd(_ error: (any Error)?, for engine: any SinkEngine) {
        switch recipient {
        case .completion(let handler):
            engine.reportEnd(error, to: .handler) { response in
                let data = error == nil ? collector.take() : nil
                engine.reportEndToHandler { handler(data, response, error) }
            }
        case .continuation(let continuation): engine.reportEnd(error, to: continuation) { collector.take() }
        }
    }
}

extension LoadFailure {
    static func tooLong(_ limit: Int) -> LoadFailure {
        LoadFailure(
            .dataLengthExceedsMaximum,
            "the body has more than \(limit) bytes, the most that configuration.maximumCollectedBodySize allows: raise that, "
                + "or take the body piece by piece, with bytes(for:), a delegate or a download")
    }
}
