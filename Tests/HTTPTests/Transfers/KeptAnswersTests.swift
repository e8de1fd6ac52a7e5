import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A delegate that keeps what it was given to answer with, and which nobody else holds.
@Suite(.timeLimit(.minutes(5))) struct KeptAnswersTests {
    enum Question: CaseIterable, Sendable {
        case response, redirect, newBodyStream, challenge, serverTrust, delayedRequest
    }

    private static func answer(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/redirect": .redirect(to: "/", status: 307)
        case "/challenge": .text("", status: 401).adding(["WWW-Authenticate": "Basic realm=\"r\""])
        default: .text("body")
        }
    }

    @Test(arguments: Question.allCases, [false, true])
    func keepNothingOfTheTask(_ question: Question, _ isAnswered: Bool) async throws {
        let tls = question == .serverTrust ? TLSServerOptions(try CertificateAuthority().issue()) : nil
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls), route: Self.answer)
        defer { server.stop() }
        try await withTimeout {
            let notes = Keeper.Notes()
            let signal = isAnswered ? notes.ended : notes.asked
            try await Self.load(question, Keeper(question, isAnswered, notes), server, until: signal)
            await notes.gone.wait()
        }
    }

    private static func load(
        _ question: Question, _ keeper: Keeper, _ server: LoopbackServer, until signal: Signal
    ) async throws {
        let session = makeSession(delegate: keeper)
        var request = URLRequest(url: try #require(URL(string: server.url("/\(question)"))))
        let task: URLSessionTask
        if question == .newBodyStream {
            request.httpMethod = "POST"
            task = session.uploadTask(withStreamedRequest: request)
        } else {
            task = session.dataTask(with: request)
        }
        if question == .delayedRequest { task.earliestBeginDate = Date(timeIntervalSinceNow: 0.01) }
        task.resume()
        await signal.wait()
        session.invalidateAndCancel()
    }

    private final class Keeper: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // constants
        struct Notes: Sendable {
            let asked = Signal()
            let ended = Signal()
            let gone = Signal()
        }

        private let question: Question
        private let isAnswered: Bool
        private let notes: Notes
        private let kept = Recorder<@Sendable () -> Void>()

        init(_ question: Question, _ isAnswered: Bool, _ notes: Notes) {
            self.question = question
            self.isAnswered = isAnswered
            self.notes = notes
        }

        deinit { notes.gone.fire() }

        private func take(_ asked: Question, _ answer: @escaping @Sendable () -> Void) {
            kept.append(answer)
            if asked != question || isAnswered { answer() }
            if asked == question { notes.asked.fire() }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) { take(.response) { completionHandler(.allow) } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) { take(.redirect) { completionHandler(request) } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) { take(.newBodyStream) { completionHandler(InputStream(data: Data("body".utf8))) } }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let trust = challenge.protectionSpace.serverTrust
            take(.serverTrust) {
                // It is kept, too.
                withExtendedLifetime(challenge) {
                    completionHandler(.useCredential, trust.map { URLCredential(trust: $0) })
                }
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            take(.challenge) {
                withExtendedLifetime(challenge) { completionHandler(.performDefaultHandling, nil) }
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) { take(.delayedRequest) { completionHandler(.continueLoading, nil) } }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            notes.ended.fire()
        }
    }
}
