import LoadingKitPrimitives

/// What an exchange does when its connection is shared before it is answered (RFC 9112 §9.3.2).
extension HTTPExchange {
    /// Whether the request may be sent behind others that await their answers, and others behind it: the program wants
    /// that, and it does no harm if the request is lost and sent again, or its answer is late.
    ///
    /// What a server knows a client by is not to depend on the order of answers: a login that holds for the connection
    /// has it alone.
    var allowsPipelining: Bool {
        guard session.settings.httpShouldUsePipelining || request.httpShouldUsePipelining else { return false }
        guard case .none = content, switching == .never, !authentication.bindsToConnection else { return false }
        return RequestMethod.isSafe(method)
    }

    /// Whether it may be sent ahead. No request is so more than once: a server that answers none of those costs each
    /// request one connection at most.
    var mayBeSentAhead: Bool { !hasHadTurn && allowsPipelining }

    /// The request is sent behind others. Its time runs when it is its turn to be answered.
    func willBeSentAhead() {
        hasHadTurn = true
        if !isInQueue { setQueued(true) }
    }

    /// The request is sent again, on any connection: other requests are behind it on the one that it had.
    func restartInTurn() {
        hasHadTurn = true
        submit(needsFreshConnection: false)
    }
}
