import Foundation
import LoadingKitCore

/// Stands between a load and another receiver, and passes on the events that it does not handle itself. Without another
/// receiver a challenge gets the default handling, and other events have no effect.
protocol ForwardingReceiver: LoadReceiver {
    var receiver: (any LoadReceiver)? { get }
}

extension ForwardingReceiver {
    func receive(_ response: URLResponse) -> Flow { receiver?.receive(response) ?? .more }
    func receive(informational response: HTTPURLResponse) { receiver?.receive(informational: response) }
    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow { receiver?.receive(bytes) ?? .more }
    func receive(_ data: Data) -> Flow { receiver?.receive(data) ?? .more }
    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? { receiver?.bodyBuffer(atMost: count) }
    func bodyBufferFilled(_ count: Int) -> Flow { receiver?.bodyBufferFilled(count) ?? .wait }

    var answersChallenges: Bool { receiver?.answersChallenges ?? false }
    var challengeDelegate: AnyObject? { receiver?.challengeDelegate }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        guard let receiver else { return decide(.performDefaultHandling, nil) }
        receiver.challenge(challenge, decide: decide)
    }

    func withdraw(_ challenge: URLAuthenticationChallenge) { receiver?.withdraw(challenge) }

    func requestNewBodyStream(_ give: @escaping (InputStream?) -> Void) {
        if let receiver { receiver.requestNewBodyStream(give) } else { give(nil) }
    }

    func requestNewBodyStream(from offset: Int64, _ give: @escaping (InputStream?) -> Void) {
        if let receiver { receiver.requestNewBodyStream(from: offset, give) } else { give(nil) }
    }

    func willCache(_ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void) {
        if let receiver { receiver.willCache(response, decide: decide) } else { decide(response) }
    }

    func didSendBody(_ count: Int, expected: Int64) { receiver?.didSendBody(count, expected: expected) }
    func bodyWillBeSentAgain(_ count: Int64) { receiver?.bodyWillBeSentAgain(count) }
    func noteActivity() { receiver?.noteActivity() }
    func queueStateDidChange(isQueued: Bool) { receiver?.queueStateDidChange(isQueued: isQueued) }
    func collect(_ transaction: @autoclosure () -> TransactionRecord) { receiver?.collect(transaction()) }
}
