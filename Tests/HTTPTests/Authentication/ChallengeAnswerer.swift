import Foundation
import LoadingKit
import TestSupport

/// Answers and records challenges, for the delegates below. It does not conform to their protocols itself, as a
/// subclass's methods would then not be called where a protocol has a default implementation.
class ChallengeNotes: NSObject, @unchecked Sendable {  // constants
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    let name: String
    let seen: Recorder<String>
    let challenges = Recorder<URLAuthenticationChallenge>()
    let metrics = Recorder<URLSessionTaskMetrics>()
    /// Whether challenges for trust in servers are answered and recorded. Else they get default handling.
    private let takesTrust: Bool
    private let answer: @Sendable (URLAuthenticationChallenge) -> Answer
    private let bodies: @Sendable () -> InputStream?

    init(
        _ name: String = "task", seen: Recorder<String> = Recorder(), takesTrust: Bool = false,
        bodies: @escaping @Sendable () -> InputStream? = { nil },
        _ answer: @escaping @Sendable (URLAuthenticationChallenge) -> Answer
    ) {
        self.name = name
        self.seen = seen
        self.takesTrust = takesTrust
        self.bodies = bodies
        self.answer = answer
    }

    /// Answers with the same user and password each time.
    convenience init(
        _ user: String, _ password: String, _ persistence: URLCredential.Persistence = .forSession,
        bodies: @escaping @Sendable () -> InputStream? = { nil }
    ) {
        self.init(bodies: bodies) { _ in
            (.useCredential, URLCredential(user: user, password: password, persistence: persistence))
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("\(name)'s task", challenge, completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        seen.append("body")
        completionHandler(bodies())
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.append(metrics)
    }

    fileprivate func note(
        _ who: String, _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        guard space.serverTrust == nil || takesTrust else { return completionHandler(.performDefaultHandling, nil) }
        let method = space.authenticationMethod.replacing("NSURLAuthenticationMethod", with: "")
        seen.append(
            "\(who): \(method) \(space.realm ?? "-") \(challenge.previousFailureCount) "
                + (challenge.proposedCredential?.user ?? "-"))
        challenges.append(challenge)
        let (disposition, credential) = answer(challenge)
        completionHandler(disposition, credential)
    }
}

/// A delegate of a session or a task that takes a task's challenges.
final class ChallengeAnswerer: ChallengeNotes, URLSessionTaskDelegate, @unchecked Sendable {}  // as its superclass

/// A delegate that takes the session's challenges, too.
final class SessionChallengeAnswerer: ChallengeNotes, URLSessionTaskDelegate, @unchecked Sendable {  // as above
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("\(name)'s session", challenge, completionHandler)
    }
}
