import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Events of the current exchange. The upload handles them or passes them on.
extension ResumableUpload: LoadReceiver {
    private var isDelivering: Bool { state.step == .delivering }

    func receive(_ response: URLResponse) -> Flow {
        guard let receiver, let response = response as? HTTPURLResponse else { return .wait }
        return delivers(response) ? receiver.receive(response) : .more
    }

    func receive(informational response: HTTPURLResponse) {
        receiveInterim(response)
        receiver?.receive(informational: response)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        guard let receiver else { return .wait }
        return isDelivering ? receiver.receive(bytes) : discard(bytes.count)
    }

    func receive(_ data: Data) -> Flow {
        guard let receiver else { return .wait }
        return isDelivering ? receiver.receive(data) : discard(data.count)
    }

    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        isDelivering ? receiver?.bodyBuffer(atMost: count) : nil
    }

    func bodyBufferFilled(_ count: Int) -> Flow { receiver?.bodyBufferFilled(count) ?? .wait }

    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse,
        decide: @escaping (_ follows: Bool) -> Void
    ) {
        redirect(request, refusal, response, decide)
    }

    var answersChallenges: Bool { receiver?.answersChallenges ?? false }

    var challengeDelegate: AnyObject? { receiver?.challengeDelegate }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        receiver?.challenge(challenge, decide: decide)
    }

    func withdraw(_ challenge: URLAuthenticationChallenge) { receiver?.withdraw(challenge) }

    /// Requests a stream for the part that is being sent.
    func requestNewBodyStream(_ give: @escaping (InputStream?) -> Void) {
        guard case .appending(let part) = state.step else {
            receiver?.requestNewBodyStream(give)
            return
        }
        receiver?.requestNewBodyStream(from: part.offset, give)
    }

    func requestNewBodyStream(from offset: Int64, _ give: @escaping (InputStream?) -> Void) {
        receiver?.requestNewBodyStream(from: offset, give)
    }

    func willCache(_ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void) {
        if let receiver { receiver.willCache(response, decide: decide) } else { decide(response) }
    }

    func didSendBody(_ count: Int, expected: Int64) { didSend(count) }

    func bodyWillBeSentAgain(_ count: Int64) { willSendAgain(count) }

    func noteActivity() { receiver?.noteActivity() }

    func queueStateDidChange(isQueued: Bool) { receiver?.queueStateDidChange(isQueued: isQueued) }

    func collect(_ transaction: @autoclosure () -> TransactionRecord) { receiver?.collect(transaction()) }

    func finish() {
        if !responseDidEnd() { receiver?.finish() }
    }

    func fail(_ error: any Error) { exchangeDidFail(error) }

    var loadEnd: LoadEnd { receiver?.loadEnd ?? .replaced }
}
