/// Sending requests ahead on connections that are busy (RFC 9112 §9.3.2).
///
/// A connection of its own is better for a request than a place behind another: pipelined is what would otherwise wait,
/// in its order. One that may not be sent ahead, and is next, has all behind it wait until it has its connection.
extension OriginPool {
    /// Something may be sent ahead now. It is after all that the loop has to do already, so that what that brings goes out
    /// together.
    func hasRoomAhead() {
        guard !pipelined.isEmpty, !willSendAhead, waiting.count > attempts.count else { return }
        willSendAhead = true
        pool.loop.executeLater { [weak self] in self?.sendAhead() }
    }

    /// A connection ended unannounced, or was silent, with requests ahead of their answers.
    func pipelineBroke() {
        pool.pipelineBroke(route)
        logger.debug("\(route.origin.authority) does not bear pipelining: no more is done in this session")
    }

    /// The first of those that wait are for the connections that are being made.
    private func sendAhead() {
        willSendAhead = false
        // Where connections are to be made, that comes first, and this after it.
        guard !opensSoon, !pipelined.isEmpty, pool.mayPipeline(route) else { return }
        let share = fairShare
        while let next = waiting.prefix(attempts.count + 1).dropFirst(attempts.count).first, mayBeSentAhead(next),
            let connection = shortestPipeline(below: share, for: next.exchange)
        {
            waiting.remove(next.exchange)
            connection.sendAhead(next.exchange)
        }
        for connection in pipelined { connection.flushAhead() }
    }

    private func mayBeSentAhead(_ entry: RequestQueue.Entry) -> Bool {
        !entry.needsFreshConnection && entry.exchange.mayBeSentAhead
    }

    /// How many a connection has ahead at most, so that those that will soon be free have something to do, too.
    private var fairShare: Int {
        let count = pipelined.reduce(waiting.count - attempts.count) { $0 + $1.aheadCount }
        let connections = max(1, busyCount)
        return (count + connections - 1) / connections
    }

    private func shortestPipeline(below limit: Int, for exchange: HTTPExchange) -> HTTP1Connection? {
        pipelined.filter { $0.aheadCount < limit && $0.isFor(exchange) && $0.roomAhead > 0 }
            .min { $0.aheadCount < $1.aheadCount }
    }
}
