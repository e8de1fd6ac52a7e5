import LoadingKitPrimitives

/// An exchange's rules for sharing a connection before the response has arrived (RFC 9112 §9.3.2).
extension HTTPExchange {
    /// Whether the request may be sent behind requests that await their responses, and other requests behind it: the
    /// program allows it, and no harm is done if the request is lost and sent again, or if its response is late.
    ///
    /// A connection that authenticates the client carries no pipelined requests: the authentication must not depend on
    /// the order of responses.
    var allowsPipelining: Bool {
        guard session.settings.httpShouldUsePipelining || request.httpShouldUsePipelining else { return false }
        guard case .none = content, switching == .never, !authentication.bindsToConnection else { return false }
        return RequestMethod.isSafe(method)
    }

    /// Whether the request may be sent ahead of earlier responses. A request is sent ahead only once: a server that
    /// answers none of these requests costs each of them one connection at most.
    var mayBeSentAhead: Bool { !hasHadTurn && allowsPipelining }

    /// The request is sent behind others. Its timeout begins when its response is the next one.
    func willBeSentAhead() {
        hasHadTurn = true
        if !isInQueue { setQueued(true) }
    }

    /// The request is sent again on any connection: other requests are behind it on its former connection.
    func restartInTurn() {
        hasHadTurn = true
        submit(needsFreshConnection: false)
    }
}
