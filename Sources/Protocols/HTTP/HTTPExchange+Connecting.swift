import LoadingKitCore

/// A challenge of a TLS handshake that an exchange has put to its program.
struct ConnectionQuestion {
    let attempt: ConnectionAttempt
    let challenge: URLAuthenticationChallenge
}

/// What an exchange that waits for a connection is asked about its TLS handshake.
extension HTTPExchange {
    var answersChallenges: Bool { receiver?.answersChallenges ?? false }

    var isAskedAboutConnection: Bool { connectionQuestion != nil }

    func ask(
        _ challenge: URLAuthenticationChallenge, for attempt: ConnectionAttempt, _ decide: @escaping ChallengeDecision
    ) {
        guard let receiver else { return decide(.performDefaultHandling, nil) }
        connectionQuestion = ConnectionQuestion(attempt: attempt, challenge: challenge)
        receiver.challenge(challenge, decide: decide)
    }

    /// Its answer is there, or not needed any more. Once the exchange is over itself, another is asked in its stead.
    func stopAsking() {
        guard let question = connectionQuestion else { return }
        connectionQuestion = nil
        receiver?.withdraw(question.challenge)
        if case .over = state { question.attempt.exchangeIsOver() }
    }
}
