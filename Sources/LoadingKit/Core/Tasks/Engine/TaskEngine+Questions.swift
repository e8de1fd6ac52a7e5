import Foundation
import LoadingKitTransport

/// A task's calls to its delegate that require an answer during the load: redirects, challenges, and new bodies.
extension TaskEngine {
    /// The largest number of redirects that a task follows; one more is `URLError.httpTooManyRedirects`.
    private static let maximumRedirects = 20

    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        let count = noteRedirect(response)
        guard count <= Self.maximumRedirects else {
            return end(with: LoadFailure(.httpTooManyRedirects, "the server redirected \(count) times"))
        }
        let settle = { [self] (next: URLRequest?) in
            guard isLoading else { return }
            guard let next else {
                release(.undecided)
                return decide(false)
            }
            if let refusal, next.url == request.url { return refuse(next, refusal) }
            renewBody(of: next, after: response) { [self] request in
                // The load may have ended while the delegate decided. Its end is not reported.
                removeHold(.undecided)
                decide(true)
                task.currentRequest = request
                if !request.hasBody {
                    // The redirect has dropped the body: no more of it is sent.
                    task.countOfBytesExpectedToSend = task.countOfBytesSent
                    task.updateProgress()
                }
                reload(request)
            }
        }
        guard task.currentRequest?.followsRedirects != false else {
            hold(for: .undecided)
            // Later, as a delegate's answer comes: the handler is delivering the response.
            let answer = questions.open(about: response, settle)
            return loop.execute { answer(nil) }
        }
        guard let delegates, let response = response as? HTTPURLResponse else { return settle(request) }
        hold(for: .undecided)
        let answer = questions.open(about: response, settle)
        core.mailbox.post(for: task) { [session, task] in
            delegates.willRedirect(session, task, response, request, answer)
        }
    }

    /// A redirect to a URL without a handler fails like any task with that URL; the other refusals apply to redirects
    /// only.
    private func refuse(_ request: URLRequest, _ refusal: LoadFailure) {
        let found = core.registry.find(request, task: nil, whole: { core.withSessionFields(request, of: task) })
        guard found == nil else { return end(with: refusal) }
        task.currentRequest = request
        end(with: LoadFailure.noHandler(for: request))
    }

    /// A stream from which bytes were read cannot be the body of the next request. The delegate supplies another
    /// stream, unless the program has set one in the request. A bound pair's stream
    /// that is not open was not read.
    private func renewBody(
        of request: URLRequest, after response: URLResponse, _ proceed: @escaping (URLRequest) -> Void
    ) {
        guard let stream = request.httpBodyStream, stream === sentStream,
            !(stream is BoundInputStream) || stream.streamStatus != .notOpen
        else {
            return proceed(request)
        }
        requestNewBodyStream(from: nil, about: response) { [self] stream in
            guard isLoading else { return }
            guard let stream else {
                return end(
                    with: LoadFailure(
                        .requestBodyStreamExhausted,
                        "the redirect needs the request's body again, and the delegate gave no new body stream"))
            }
            var request = request
            request.httpBodyStream = stream
            proceed(request)
        }
    }

    var answersChallenges: Bool { delegates != nil }

    var challengeDelegate: AnyObject? { delegates?.ownChallenged(core) }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        noteActivity()
        core.events.note(.challenged(challenge.protectionSpace.challengeKind), task: task.identifier)
        guard let delegates else { return decide(.performDefaultHandling, nil) }
        let answer = questions.open(about: challenge) {
            [self] (disposition: URLSessionAuthChallengeDisposition, credential: URLCredential?) in
            core.events.note(.challengeAnswered(disposition.outcome), task: task.identifier)
            updateHeld()
            decide(disposition, credential)
        }
        updateHeld()
        core.mailbox.post(for: task) { [session, task] in
            delegates.didReceive(challenge, session, task) { answer(($0, $1)) }
        }
    }

    func withdraw(_ question: AnyObject) {
        guard openQuestions?.withdraw(question) == true else { return }
        if question is URLResponse { release(.undecided) } else { updateHeld() }
    }

    func requestNewBodyStream(from offset: Int64?, _ give: @escaping (InputStream?) -> Void) {
        requestNewBodyStream(from: offset, about: nil, give)
    }

    /// While the delegate makes the stream, the task's timeout does not run.
    ///
    /// - Parameter response: the response that redirects, where the stream is for the redirect's request.
    private func requestNewBodyStream(
        from offset: Int64?, about response: URLResponse?, _ give: @escaping (InputStream?) -> Void
    ) {
        guard let delegates else { return give(nil) }
        let answer = questions.open(about: response) { [self] (stream: InputStream?) in
            updateHeld()
            give(stream)
        }
        updateHeld()
        core.mailbox.post(for: task) { [session, task] in
            delegates.needNewBodyStream(from: offset, session, task, answer)
        }
    }
}
