import LoadingKitPrimitives

/// Decides which connections are opened, and for which requests.
///
/// An attempt is started only while requests wait (``wantedAttempts``), and may be cancelled when there are more
/// attempts than waiting requests (``cancelSurplusAttempts(_:)``). A rule that opens a connection before a request
/// waits for it has to change both.
extension HTTPConnectionPool {
    /// A program may have to decide about an attempt, for example whether it trusts the server.
    mutating func attemptMayChallenge() { mayChallenge = true }

    /// The program got a challenge on behalf of a request. The timeouts of the waiting requests do not run.
    mutating func attemptDidChallenge(_ attempt: AttemptID, for request: RequestID?) -> Actions {
        guard let index = attempts.firstIndex(where: { $0.id == attempt }) else { return Actions() }
        attempts[index].isChallenging = true
        attempts[index].challenged = request
        return servedRequestsDidChange()
    }

    mutating func attemptChallengeDidEnd(_ attempt: AttemptID) -> Actions {
        guard let index = attempts.firstIndex(where: { $0.id == attempt }) else { return Actions() }
        attempts[index].isChallenging = false
        return servedRequestsDidChange()
    }

    mutating func servedRequestsDidChange() -> Actions {
        var actions = Actions()
        reportServedChanges(&actions)
        return actions
    }

    /// Reports the requests for which a connection is no longer being opened, and those for which one is being opened
    /// now. Only the timeouts of the latter run.
    mutating func reportServedChanges(_ actions: inout Actions) {
        for request in waiting.serveNoMore(than: servedCount) { actions += .reportQueued(request, true) }
        for request in waiting.serve(servedCount) { actions += .reportQueued(request, false) }
    }

    enum AttemptFailure: Sendable {
        /// The attempt's time is over. Each request keeps its own time.
        case timedOut
        /// The server supports none of the protocols that were offered.
        case speaksNoneOffered
        /// The name has no address, or none of its addresses can be connected to.
        case unreachable
        case other
    }

    mutating func attemptDidFail(_ attempt: AttemptID, _ failure: AttemptFailure, now: MonotonicTime) -> Actions {
        var actions = Actions()
        guard let attempt = removeAttempt(attempt) else { return actions }
        switch failure {
        case .timedOut:
            keepPlace(now)
        case .speaksNoneOffered where !attempt.offersHTTP2 && offerHTTP2IfPossible():
            break
        case .speaksNoneOffered where hasOfferedHTTP2 && !attempt.offersHTTP2:
            if let request = takeNext(for: attempt) { actions += .fail(request.id, .opensNoWebSocket) }
        case .unreachable where !isHTTP1 && attempts.isEmpty && http1.isEmpty && http2.isEmpty:
            // The attempt was for all requests. Another one for each of them would fail as slowly, one after the other.
            for request in waiting.removeAll() { actions += .fail(request.id, .attemptFailed) }
        case .speaksNoneOffered, .unreachable, .other:
            if let request = takeNext(for: attempt) { actions += .fail(request.id, .attemptFailed) }
        }
        attemptDidEnd(now, &actions)
        return actions
    }

    mutating func attemptDidEnd(_ now: MonotonicTime, _ actions: inout Actions) {
        endSurplusAttempts(&actions)
        serveWaiting(now, &actions)
        releaseIfUnused(&actions)
    }

    /// A WebSocket is opened over HTTP/1.1, which nearly all servers support. A server that cannot interpret HTTP/1.1
    /// is offered HTTP/2, too, once. Returns false if that has failed.
    mutating func offerHTTP2IfPossible() -> Bool {
        if hasOfferedHTTP2 { return isHTTP2 }
        guard configuration.mayUpgradeStreams, configuration.isSecure, configuration.allowsHTTP2 else { return false }
        hasOfferedHTTP2 = true
        version = .http2(HTTP2Connections(), former: http1)
        return true
    }

    /// The server is known to support only HTTP/2.
    mutating func serverSpeaksHTTP2Alone() { hasOfferedHTTP2 = true }

    /// - Parameter attempt: one that has ended; nil for one of another pool, or whose connection has ended already.
    mutating func takeNext(for attempt: Attempt?) -> Request? { next(for: attempt).flatMap { waiting.remove($0) } }

    mutating func removeAttempt(_ id: AttemptID) -> Attempt? {
        guard let index = attempts.firstIndex(where: { $0.id == id }) else { return nil }
        return attempts.remove(at: index)
    }

    mutating func cancelAttempt(at index: Int, _ actions: inout Actions) {
        actions += .cancelAttempt(attempts.remove(at: index).id)
    }

    var challengingCount: Int { attempts.count(where: \.isChallenging) }

    /// Another connection has taken a request for which an attempt was started. The attempt continues for the next
    /// request: with many short requests, attempts would otherwise be cancelled repeatedly. It is cancelled if it may
    /// challenge a program, as there may be no request left on whose behalf to do so.
    mutating func endSurplusAttempts(_ actions: inout Actions) {
        if mayChallenge || challengingCount > 0 { cancelSurplusAttempts(&actions) }
    }

    mutating func cancelSurplusAttempts(_ actions: inout Actions) {
        // The program's answer to a challenge is useless if the challenged request is over.
        for index in attempts.indices.reversed()
        where attempts[index].isChallenging && attempts[index].challenged.map(waiting.contains) != true {
            cancelAttempt(at: index, &actions)
        }
        while attempts.count > waiting.count {
            cancelAttempt(at: attempts.lastIndex { !$0.isChallenging } ?? attempts.count - 1, &actions)
        }
    }

    /// Opens connections for the waiting requests, and reports which requests are served by them.
    mutating func serveWaiting(_ now: MonotonicTime, _ actions: inout Actions) {
        guard !waiting.isEmpty else { return }
        openAsNeeded(now, &actions)
        reportServedChanges(&actions)
    }

    mutating func openAsNeeded(_ now: MonotonicTime, _ actions: inout Actions) {
        guard !backOff.isPausing else { return }
        while attempts.count < wantedAttempts,
            hasRoomForConnection(now) || !share.givesWay && closeOneIdle(&actions)
        {
            attemptCount += 1
            attempts.append(Attempt(id: attemptCount, offersHTTP2: !isHTTP1))
            actions += .startAttempt(attemptCount, offersHTTP2: !isHTTP1)
        }
        lacksRoom = attempts.count < wantedAttempts
    }

    mutating func closeOneIdle(_ actions: inout Actions) -> Bool {
        guard let oldest = updateHTTP1({ $0.popOldestIdle() }) else { return false }
        actions += .close(oldest)
        return true
    }

    /// An HTTP/1.1 connection carries one request, and an HTTP/2 connection many, so there is one attempt for HTTP/2
    /// and while the version is unknown. There are several to a server that ends its HTTP/2 connections after a few
    /// requests.
    var wantedAttempts: Int {
        switch version {
        case .http1:
            return waiting.count
        case .undetermined:
            return min(1, waiting.count)
        case .http2(let connections, _):
            guard !connections.awaitsServer else { return 0 }
            guard let requestsPerConnection else { return min(1, waiting.count) }
            return (waiting.count + requestsPerConnection - 1) / requestsPerConnection
        }
    }

    /// The number of waiting requests for which connections are being opened. Their timeouts run.
    var servedCount: Int {
        switch version {
        case .http1: attempts.count - challengingCount
        case .undetermined: attempts.count > challengingCount ? waiting.count : 0
        case .http2(let connections, _):
            attempts.count > challengingCount || connections.awaitsServer ? waiting.count : 0
        }
    }

    mutating func releaseIfUnused(_ actions: inout Actions) { if isUnused { actions += .release } }
}
