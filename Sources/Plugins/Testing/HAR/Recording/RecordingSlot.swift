import Foundation
import LoadingKit
import Synchronization

/// One request of a recording: the place that it has in the order, and what is known of it.
final class RecordingSlot: Sendable {
    private struct State {
        weak var task: URLSessionTask?
        var progress = Progress.loading
        var response: HTTPURLResponse?
        var headTime: Date?
    }

    private enum Progress {
        case loading
        /// It was cancelled before its response: by the program, or by a redirect. The entry is for the first.
        case interrupted(HAREntry)
        case over(HAREntry, isRedirect: Bool)
    }

    let start: Date
    /// Without its body.
    let request: URLRequest
    /// The body as far as it was read.
    let body: RecordedBodyReference
    private let state: Mutex<State>

    init(_ request: URLRequest, _ task: URLSessionTask, start: Date) {
        var head = request
        head.httpBody = nil
        self.request = head
        self.start = start
        body = RecordedBodyReference()
        state = Mutex(State(task: task))
    }

    /// Nil while it is being loaded.
    var entry: HAREntry? {
        state.withLock { state in
            switch state.progress {
            case .loading: nil
            case .interrupted(let entry), .over(let entry, _): entry
            }
        }
    }

    func isOf(_ task: URLSessionTask) -> Bool { state.withLock { $0.task === task } }

    /// The program's task has its response: it is no redirect.
    func didReceive(_ response: URLResponse, at time: Date) {
        state.withLock { state in
            state.response = response as? HTTPURLResponse
            state.headTime = time
        }
    }

    var head: (response: HTTPURLResponse?, time: Date?) { state.withLock { ($0.response, $0.headTime) } }

    func finish(_ entry: HAREntry) {
        settle(.over(entry, isRedirect: false))
        body.value = nil
    }

    func interrupt(_ entry: HAREntry) {
        settle(head.time == nil ? .interrupted(entry) : .over(entry, isRedirect: false))
    }

    private func settle(_ progress: Progress) {
        state.withLock { state in
            if case .loading = state.progress { state.progress = progress }
        }
    }

    /// The session has gone on to another request of the task.
    func didRedirect(to next: URLRequest, at time: Date, _ recorder: HARRecorder) {
        let entry = EntryMaker(self, recorder).redirect(to: next, at: time)
        state.withLock { state in
            switch state.progress {
            case .loading where state.headTime == nil, .interrupted: state.progress = .over(entry, isRedirect: true)
            case .loading, .over: break
            }
        }
    }

    // MARK: Metrics

    func isOf(_ metrics: URLSessionTaskTransactionMetrics) -> Bool {
        metrics.request.url == request.url && metrics.request.httpMethod == request.httpMethod
    }

    /// Whether two transactions are for one request of the task: after a redirect there is one for the same URL as well,
    /// and then the first has a redirect's response.
    func isSame(_ next: URLSessionTaskTransactionMetrics, as first: URLSessionTaskTransactionMetrics) -> Bool {
        let status = (first.response as? HTTPURLResponse)?.statusCode ?? 0
        return isOf(next) && !(300..<400).contains(status)
    }

    func add(_ metrics: URLSessionTaskTransactionMetrics, _ redactor: Redactor) {
        state.withLock { state in
            switch state.progress {
            case .loading: break
            case .interrupted(var entry):
                entry.add(metrics, isRedirect: false, redactor)
                state.progress = .interrupted(entry)
            case .over(var entry, let isRedirect):
                entry.add(metrics, isRedirect: isRedirect, redactor)
                state.progress = .over(entry, isRedirect: isRedirect)
            }
        }
    }
}

/// Where the body of a request is found once its load has begun.
final class RecordedBodyReference: Sendable {
    private let body = Mutex<RecordedBody?>(nil)

    /// Nil where the request has none.
    var value: RecordedBody? {
        get { body.withLock { $0 } }
        set { body.withLock { $0 = newValue } }
    }
}
