import LoadingKitCore

/// Sends requests ahead of the responses that are awaited (RFC 9112 §9.3.2).
extension HTTP1Connection {
    /// The number of requests that may now be sent behind unanswered ones. Zero if the server has not yet kept the
    /// connection after a response, if the response in progress is long or may be endless, or if its receiver is busy.
    var roomAhead: Int {
        guard case .active(let exchange) = state, keepAlive.isReused, keepAlive.speaksHTTP11, codec.canSendAhead,
            isAllSent, case .flowing = reading, exchange.allowsPipelining
        else { return 0 }
        if case .head(let isOpenEnded) = response {
            if isOpenEnded || codec.directBodyBytes > Self.drainLimit { return 0 }
            // Unread input may extend beyond the response in progress, and would be taken for the next response.
            if pipeline.isEmpty, stream.isDead { return 0 }
        }
        return Pipeline.depth - 1 - pipeline.count
    }

    var aheadCount: Int { pipeline.count }

    /// Puts a request behind the unanswered ones, for ``flushAhead()``.
    func sendAhead(_ exchange: HTTPExchange) {
        exchange.assigned(to: self)
        exchange.willBeSentAhead()
        requestCount &+= 1
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
        // Responses that were received before the error count.
        readLater()
    }

    /// A response is complete, and the next one belongs to the pipeline's first request, unless the server has
    /// announced the connection's end: it ignores all requests after that response's (RFC 9112 §9.6).
    func proceed(after exchange: HTTPExchange?, hasRest: Bool) {
        let isAnnounced = !codec.awaitsResponse
        guard !isAnnounced, pipeline.isNextSent, pipeline.isAwaited else {
            let error = writeError
            close()
            exchange?.ended()
            if let error, !isAnnounced { breakPipeline(error) } else { sendAgain(.notSent) }
            return pool.connectionDidClose(id, isAnnounced ? .retired : .unusable)
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

    /// The connection has ended without an announcement by the server.
    func breakPipeline(_ error: any Error) {
        guard pipeline.isInUse else { return }
        pool.pipelineDidBreak()
        sendAgain(.unknown, after: error)
    }

    /// Sends the pipeline's requests on other connections. The last one is submitted first, as each is placed before
    /// the waiting requests.
    func sendAgain(_ processing: StreamFailure.Processing, after error: (any Error)? = nil) {
        guard !pipeline.isEmpty else { return }
        let error = error ?? LoadFailure(.networkConnectionLost, "the connection was closed")
        for exchange in pipeline.takeAll().reversed() {
            exchange.failed(StreamFailure(error: error, processing: processing, isBehind: true))
        }
    }
}
