import Foundation
import LoadingKit
import TestSupport

typealias ChallengeAnswerHandler = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

/// A session's delegate that answers what concerns connections.
final class TrustAnswerer: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // constants
    let challenges = Recorder<URLAuthenticationChallenge>()
    let metrics = Recorder<URLSessionTaskMetrics>()
    private let answer: @Sendable (URLAuthenticationChallenge) -> ChallengeNotes.Answer

    init(_ answer: @escaping @Sendable (URLAuthenticationChallenge) -> ChallengeNotes.Answer) { self.answer = answer }

    /// Accepts every server, and identifies itself so.
    static func accepting(_ identity: ClientIdentity? = nil) -> TrustAnswerer {
        TrustAnswerer { challenge in
            if let trust = challenge.protectionSpace.serverTrust {
                return (.useCredential, URLCredential(trust: trust))
            }
            let credential = identity.map { URLCredential(identity: $0, certificates: nil, persistence: .none) }
            return (.useCredential, credential)
        }
    }

    var methods: [String] {
        challenges.snapshot.map {
            $0.protectionSpace.authenticationMethod.replacing("NSURLAuthenticationMethod", with: "")
        }
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping ChallengeAnswerHandler
    ) {
        challenges.append(challenge)
        let (disposition, credential) = answer(challenge)
        completionHandler(disposition, credential)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.append(metrics)
    }
}

/// A delegate that keeps the handlers: the test answers, or does not.
final class TrustThinker: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // constants
    struct Question: Sendable {
        let task: Int?
        let challenge: URLAuthenticationChallenge
        let answer: ChallengeAnswerHandler

        func accept() {
            answer(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
    }

    let questions = Recorder<Question>()
    let invalidated = Signal()
    /// Whether challenges for trust in servers are kept. Else they get default handling.
    private let takesTrust: Bool

    init(takesTrust: Bool = true) { self.takesTrust = takesTrust }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping ChallengeAnswerHandler
    ) {
        guard challenge.protectionSpace.serverTrust == nil || takesTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        questions.append(Question(task: task.taskIdentifier, challenge: challenge, answer: completionHandler))
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { invalidated.fire() }
}

extension URLSession {
    /// Closes idle connections.
    func forget() async { await withCheckedContinuation { continuation in reset { continuation.resume() } } }
}
