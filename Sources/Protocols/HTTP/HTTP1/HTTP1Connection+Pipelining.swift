import LoadingKitCore
import LoadingKitTransport

/// How a connection sends requests ahead of the answers that are awaited (RFC 9112 §9.3.2).
extension HTTP1Connection {
    /// How many requests may now be sent behind those that are not answered. None where the server has not shown that it keeps
    /// its connections, or where the answer in progress is long, or may be endless, or its receiver takes no more of it.
    var roomAhead: Int {
        guard case .active(let exchange) = state, keepAlive.isReused, keepAlive.speaksHTTP11, codec.canSendAhead,
            isAllSent, case .flowing = reading, exchange.allowsPipelining
        else { return 0 }
        if case .head(let isOpenEnded) = response {
            if isOpenEnded || codec.directBodyBytes > Self.drainLimit { return 0 }
            // What is there may be more than the response in progress, and be taken for the answer.
            if pipeline.isEmpty, stream.isDead { return 0 }
        }
        return Pipeline.depth - 1 - pipeline.count
    }

    var aheadCount: Int { pipeline.count }

    /// Puts a request behind those that are not answered; ``flushAhead()`` sends it.
    func sendAhead(_ exchange: HTTPExchange) {
        exchange.assigned(to: self)
        exchange.willBeSentAhead()
        exchange.use(stream.info, metrics, isReused: true)
        do {
            try pipeline.append(exchange, &codec, now: loop.now)
        } catch {
            let failure = LoadFailure(.badURL, "the request cannot be sent: \(error)")
            exchange.failed(StreamFailure(error: failure, processing: .begun))
        }
    }

    func flushAhead() {
        guard isAllSent, let error = pipeline.flush(to: stream) else { return }
        writing = .failed(error)
        // What was answered before counts.
        readLater()
    }

    /// A response is complete, and the next is for what was sent ahead; unless the server has announced that there will be
    /// none: it looks at nothing that came after the request whose response announced it (RFC 9112 §9.6).
    func proceed(after exchange: HTTPExchange?, hasRest: Bool) {
        let isAnnounced = !codec.awaitsResponse
        guard !isAnnounced, pipeline.isNextSent, pipeline.isAwaited else {
            let error = writeError
            close()
            exchange?.ended()
            if let error, !isAnnounced { breakPipeline(error) } else { sendAgain(.notSent) }
            return pool.connectionDidClose(self)
        }
        keepAlive.pipelinedRequestDidBegin()
        response = hasRest ? .begun : .awaited
        if let next = pipeline.takeNext(now: loop.now) {
            state = .active(next)
            next.setQueued(false)
        } else {
            beginDraining(next: nil)
        }
        exchange?.ended()
        pool.roomAheadDidChange()
    }

    /// The connection has ended, and the server had not announced it.
    func breakPipeline(_ error: any Error) {
        guard pipeline.isInUse else { return }
        pool.pipelineDidBreak()
        sendAgain(.unknown, after: error)
    }

    /// Has what was sent ahead sent elsewhere: the last first, as each goes before those that wait.
    func sendAgain(_ processing: StreamFailure.Processing, after error: (any Error)? = nil) {
        guard !pipeline.isEmpty else { return }
        let error = error ?? LoadFailure(.networkConnectionLost, "the connection was closed")
        for exchange in pipeline.takeAll().reversed() {
            exchange.failed(StreamFailure(error: error, processing: processing, isBehind: true))
        }
    }
}
