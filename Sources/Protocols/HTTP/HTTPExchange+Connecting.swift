import LoadingKitCore

/// What an exchange that waits for a connection is asked about its TLS handshake.
extension HTTPExchange {
    var answersChallenges: Bool { receiver?.answersChallenges ?? false }

    var isAskedAboutConnection: Bool { askedFor != nil }

    func ask(
        _ challenge: URLAuthenticationChallenge, for attempt: ConnectionAttempt, _ decide: @escaping ChallengeDecision
    ) {
        guard let receiver else { return decide(.performDefaultHandling, nil) }
        askedFor = attempt
        receiver.challenge(challenge, decide: decide)
    }

    /// Its answer is there, or not needed any more. Once it is over itself, another may be asked.
    func stopAsking() {
        guard let attempt = askedFor else { return }
        askedFor = nil
        if case .over = state { attempt.exchangeIsOver() }
    }
}
