import Foundation
import LoadingKit
import Synchronization

/// The delegate of a checked load: records its events, and performs the check's action at a stage.
final class LoadObserver: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    /// The stage of a load at which an action is performed.
    enum Stage: String, CaseIterable, Sendable {
        case beforeItBegan = "before it began"
        case whenItBegan = "when it began"
        case whenTheResponseCame = "when the response came"
        case whenTheFirstBytesCame = "when the first bytes came"
    }

    enum Event: Sendable {
        case redirect, challenge, data(Int), file, metrics, end
        /// With the media type.
        case response(String?)
    }

    /// The result of a load.
    struct Outcome: Sendable {
        var response: URLResponse?
        /// The body of the last response.
        var data = Data()
        var error: (any Error)?
        var events: [Event] = []
        var challenges = 0
        var bytesSent: Int64 = 0
        var metrics: URLSessionTaskMetrics?

        var responses: Int { events.count { if case .response = $0 { true } else { false } } }
        var code: URLError.Code? { (error as? URLError)?.code }
        var isCancelled: Bool { code == .cancelled }
        /// The error and the number of received bytes, for a finding.
        var end: String { "\(error.map { "\($0)" } ?? "no error") and \(data.count) bytes" }
    }

    private struct State {
        var outcome = Outcome()
        var isOver = false
        /// Whether the action was called, or is being called: at the first event of its stage only.
        var isActing = false
        var hasActed = false
        /// The number of bytes of all responses.
        var received = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let stage: Stage?
    private let action: @Sendable (URLSession, URLSessionTask) -> Void
    let redirects: Bool
    private let answer: (@Sendable (Int) -> (URLSession.AuthChallengeDisposition, URLCredential?)?)?

    /// - Parameters:
    ///   - stage: the stage at which `action` is called; nil for never.
    ///   - follows: whether redirects are followed.
    ///   - action: the action at the stage, and for a challenge without an answer.
    ///   - answer: the answer to challenges, by the number of earlier challenges; nil for no answer.
    init(
        at stage: Stage? = nil, follows: Bool = true,
        perform action: @escaping @Sendable (URLSession, URLSessionTask) -> Void = { _, _ in },
        answer: (@Sendable (Int) -> (URLSession.AuthChallengeDisposition, URLCredential?)?)? = nil
    ) {
        self.stage = stage
        self.action = action
        redirects = follows
        self.answer = answer
    }

    /// Starts the load, performs the action at the two stages that only the program sees, and waits for the load's end.
    func run(_ task: URLSessionTask, in session: URLSession) async -> Outcome {
        if stage == .beforeItBegan { act(session, task) }
        task.resume()
        if stage == .whenItBegan { act(session, task) }
        await wait { $0.isOver }
        return outcome
    }

    /// Waits until the action at the stage has been performed; or until the load has ended before the stage.
    func waitForStage() async { await wait { $0.hasActed || $0.isOver } }

    /// Returns early where this task is cancelled.
    private func wait(until isReached: @Sendable (borrowing State) -> Bool) async {
        await withTaskCancellationHandler {
            while !state.withLock({ isReached($0) }) {
                await withCheckedContinuation { continuation in
                    let isThere = state.withLock { state in
                        if isReached(state) { return true }
                        state.waiters.append(continuation)
                        return false
                    }
                    if isThere { continuation.resume() }
                }
            }
        } onCancel: {
            change { $0.isOver = true }
        }
    }

    private func act(_ session: URLSession, _ task: URLSessionTask) {
        let isFirst = state.withLock { state in
            defer { state.isActing = true }
            return !state.isActing
        }
        guard isFirst else { return }
        action(session, task)
        change { $0.hasActed = true }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    var outcome: Outcome { state.withLock { $0.outcome } }

    /// The number of bytes received up to now.
    var count: Int { state.withLock { $0.received } }

    /// Changes with each event of the load.
    var progress: Int { state.withLock { $0.outcome.events.count + Int($0.outcome.bytesSent) } }

    // MARK: Delegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        state.withLock {
            $0.outcome.response = response
            $0.outcome.data = Data()
            $0.outcome.events.append(.response(response.mimeType))
        }
        if stage == .whenTheResponseCame { act(session, dataTask) }
        return .allow
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { state in
            state.outcome.data.append(data)
            state.outcome.events.append(.data(data.count))
            state.received += data.count
        }
        if stage == .whenTheFirstBytesCame { act(session, dataTask) }
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo file: URL) {
        let data = try? Data(contentsOf: file)
        state.withLock {
            $0.outcome.data = data ?? Data()
            $0.outcome.response = downloadTask.response
            $0.outcome.events.append(.file)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        state.withLock { $0.outcome.events.append(.redirect) }
        return redirects ? request : nil
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod != NSURLAuthenticationMethodServerTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        let before = state.withLock { state in
            state.outcome.events.append(.challenge)
            defer { state.outcome.challenges += 1 }
            return state.outcome.challenges
        }
        guard let answer else { return completionHandler(.performDefaultHandling, nil) }
        guard let (disposition, credential) = answer(before) else { return act(session, task) }
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytes: Int64, totalBytesSent total: Int64,
        totalBytesExpectedToSend expected: Int64
    ) {
        state.withLock { $0.outcome.bytesSent = total }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        state.withLock {
            $0.outcome.metrics = metrics
            $0.outcome.events.append(.metrics)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        change {
            $0.outcome.error = error
            $0.outcome.events.append(.end)
            $0.isOver = true
        }
    }
}
