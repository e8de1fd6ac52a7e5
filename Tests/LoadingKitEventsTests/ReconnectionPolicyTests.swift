import Testing

@testable import LoadingKitEvents

/// When a stream reconnects, without a network.
@Suite struct ReconnectionPolicyTests {
    typealias Outcome = ReconnectionPolicy.Outcome
    typealias Decision = ReconnectionPolicy.Decision

    private static func decide(_ outcome: Outcome, _ method: String, _ isEnabled: Bool?, attempts: Int? = nil)
        -> Decision
    {
        var options = ReconnectionOptions()
        options.isEnabled = isEnabled
        options.maximumAttempts = attempts
        var policy = ReconnectionPolicy(options, method: method)
        return policy.decide(after: outcome, random: 0)
    }

    /// Every outcome: with reconnection, without it, and after the last permitted attempt.
    @Test(
        arguments: [
            (.streamEnded, .reconnect(after: 3), .finish, .reconnect(after: 3)),
            (.noContent, .finish, .finish, .finish),
            (.connectionLost, .reconnect(after: 3), .fail, .fail),
            (.attemptFailed(retryAfter: nil), .reconnect(after: 3), .fail, .fail),
            (.attemptFailed(retryAfter: 10), .reconnect(after: 10), .fail, .fail),
            (.attemptFailed(retryAfter: 1), .reconnect(after: 3), .fail, .fail),
            (.attemptFailed(retryAfter: 1e9), .reconnect(after: 300), .fail, .fail),
        ] as [(Outcome, Decision, Decision, Decision)])
    func everyOutcome(outcome: Outcome, enabled: Decision, disabled: Decision, often: Decision) {
        for (method, isEnabled) in [("GET", nil), ("GET", true), ("POST", true)] as [(String, Bool?)] {
            #expect(Self.decide(outcome, method, isEnabled) == enabled)
        }
        for (method, isEnabled) in [("POST", nil), ("GET", false)] as [(String, Bool?)] {
            #expect(Self.decide(outcome, method, isEnabled) == disabled)
        }
        #expect(Self.decide(outcome, "GET", nil, attempts: 1) == often)
    }

    private static func pauses(_ count: Int, random: Double, _ options: ReconnectionOptions, retry: Int?) -> [Double] {
        var policy = ReconnectionPolicy(options, method: "GET")
        if let retry { policy.setReconnectionTime(milliseconds: retry) }
        return (0..<count).compactMap { _ in
            guard case .reconnect(let seconds) = policy.decide(after: .connectionLost, random: random) else {
                return nil
            }
            return seconds
        }
    }

    @Test func pausesDoubleUpToTheirBounds() {
        let options = ReconnectionOptions()
        #expect(Self.pauses(7, random: 0, options, retry: nil) == [3, 6, 12, 24, 48, 60, 60])
        #expect(Self.pauses(2, random: 1, options, retry: nil) == [3.75, 7.5])
        // A longer time from the server is kept, up to the maximum.
        #expect(Self.pauses(3, random: 0, options, retry: 100_000) == [100, 100, 100])
        #expect(Self.pauses(2, random: 1, options, retry: .max) == [300, 300])
        // A shorter time from the server has a lower bound.
        #expect(Self.pauses(3, random: 0, options, retry: 0) == [0.1, 0.2, 0.4])
        #expect(Self.pauses(80, random: 0, options, retry: 1).last == 60)
        var zero = options
        (zero.minimumTime, zero.reconnectionTime, zero.jitter) = (-1, -5, -1)
        #expect(Self.pauses(3, random: 1, zero, retry: nil) == [0, 0, 0])
    }

    @Test func aConnectionThatOpensBeginsTheCountAnew() {
        var options = ReconnectionOptions()
        options.maximumAttempts = 3
        var policy = ReconnectionPolicy(options, method: "GET")
        for _ in 0..<10 {
            #expect(policy.decide(after: .attemptFailed(retryAfter: nil), random: 0) == .reconnect(after: 3))
            #expect(policy.decide(after: .attemptFailed(retryAfter: nil), random: 0) == .reconnect(after: 6))
            policy.connectionDidOpen()
        }
        for _ in 0..<10 { #expect(policy.decide(after: .streamEnded, random: 0) == .reconnect(after: 3)) }
        #expect(policy.decide(after: .connectionLost, random: 0) == .reconnect(after: 3))
        #expect(policy.decide(after: .connectionLost, random: 0) == .reconnect(after: 6))
        #expect(policy.decide(after: .connectionLost, random: 0) == .fail)
    }
}
