import CSimulatedSystem
import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// Answers a session's challenges, with the client's own credential alone.
final class SessionDelegate: NSObject, URLSessionTaskDelegate {
    /// Fires when the session has ended.
    let invalidated = Signal()
    private let number: Int
    private let ledger: Ledger

    init(_ number: Int, _ ledger: Ledger) { (self.number, self.ledger) = (number, ledger) }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        if invalidated.hasFired { ledger.violation("a session became invalid twice") }
        invalidated.fire()
    }

    /// The first answer counts.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(request)
        if sim_random(3) == 0 { completionHandler(request) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (disposition, credential) = Self.answer(challenge, client: number)
        if credential != nil, challenge.protectionSpace.realm != "\(number)" {
            ledger.violation("client \(number) is asked for \(challenge.protectionSpace.realm ?? "")")
        }
        completionHandler(disposition, credential)
    }

    /// The client's own credential, once.
    static func answer(
        _ challenge: URLAuthenticationChallenge, client: Int
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic,
            challenge.previousFailureCount == 0
        else { return (.performDefaultHandling, nil) }
        return (
            .useCredential, URLCredential(user: "client\(client)", password: "secret", persistence: .forSession)
        )
    }
}
