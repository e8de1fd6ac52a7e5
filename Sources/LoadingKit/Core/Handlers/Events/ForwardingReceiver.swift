import Foundation

/// Stands between a load and another receiver, and passes on the events that it does not handle itself. Without another
/// receiver a challenge gets the default handling, and other events have no effect.
///
/// Inlined, because other modules' receivers pass on each piece of a body.
package protocol ForwardingReceiver: LoadReceiver {
    var receiver: (any LoadReceiver)? { get }
}

extension ForwardingReceiver {
    @inlinable package func receive(_ response: URLResponse) -> Flow { receiver?.receive(response) ?? .more }
    @inlinable package func receive(informational response: HTTPURLResponse) {
        receiver?.receive(informational: response)
    }
    @inlinable package func receive(_ bytes: UnsafeRawBufferPointer) -> Flow { receiver?.receive(bytes) ?? .more }
    @inlinable package func receive(_ data: Data) -> Flow { receiver?.receive(data) ?? .more }
    @inlinable package func receive(coded bytes: UnsafeRawBufferPointer) { receiver?.receive(coded: bytes) }
    @inlinable package func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        receiver?.bodyBuffer(atMost: count)
    }
    @inlinable package func bodyBufferFilled(_ count: Int) -> Flow { receiver?.bodyBufferFilled(count) ?? .wait }

    @inlinable package var loadEnd: LoadEnd { receiver?.loadEnd ?? .released }

    @inlinable package var answersChallenges: Bool { receiver?.answersChallenges ?? false }
    @inlinable package var challengeDelegate: AnyObject? { receiver?.challengeDelegate }

    @inlinable package func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        guard let receiver else { return decide(.performDefaultHandling, nil) }
        receiver.challenge(challenge, decide: decide)
    }

    @inlinable package func withdraw(_ question: AnyObject) { receiver?.withdraw(question) }

    @inlinable package func requestNewBodyStream(from offset: Int64?, _ give: @escaping (InputStream?) -> Void) {
        if let receiver { receiver.requestNewBodyStream(from: offset, give) } else { give(nil) }
    }

    @inlinable package func willCache(
        _ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        if let receiver { receiver.willCache(response, decide: decide) } else { decide(response) }
    }

    @inlinable package func didSendBody(_ count: Int, expected: Int64) {
        receiver?.didSendBody(count, expected: expected)
    }
    @inlinable package func bodyWillBeSentAgain(_ count: Int64) { receiver?.bodyWillBeSentAgain(count) }
    @inlinable package func noteActivity() { receiver?.noteActivity() }
    @inlinable package func queueStateDidChange(isQueued: Bool) { receiver?.queueStateDidChange(isQueued: isQueued) }
    @inlinable package func collect(_ transaction: @autoclosure () -> TransactionRecord) {
        receiver?.collect(transaction())
    }
}
