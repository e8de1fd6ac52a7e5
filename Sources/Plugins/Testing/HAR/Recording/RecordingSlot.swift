import Foundation
import LoadingKit
import Synchronization

/// One request of a recording: its position in the order, and its recorded data.
final class RecordingSlot: Sendable {
    private struct State {
        weak var task: URLSessionTask?
        var progress = Progress.loading
    }

    private enum Progress {
        case loading
        case answered(LoadedResponse, at: Date)
        /// The session has the redirect response, and follows it with another load, or reads its body.
        case redirects(HAREntry, LoadedResponse)
        case over(HAREntry)
    }

    let start: Date
    /// The request without its body.
    let request: URLRequest
    /// The part of the body that was read.
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

    /// Nil while the request is being loaded.
    var entry: HAREntry? {
        state.withLock { state in
            switch state.progress {
            case .loading, .answered: nil
            case .redirects(let entry, _), .over(let entry): entry
            }
        }
    }

    func isOf(_ task: URLSessionTask) -> Bool { state.withLock { $0.task === task } }

    func didReceive(_ loaded: LoadedResponse, at time: Date) {
        state.withLock { $0.progress = .answered(loaded, at: time) }
    }

    /// The response, and the time of its arrival; nil before.
    var answer: (loaded: LoadedResponse, time: Date)? {
        state.withLock { state in
            if case .answered(let loaded, let time) = state.progress { (loaded, time) } else { nil }
        }
    }

    func didRedirect(_ entry: HAREntry, _ loaded: LoadedResponse) {
        state.withLock { $0.progress = .redirects(entry, loaded) }
        body.value = nil
    }

    func finish(_ entry: HAREntry) {
        state.withLock { $0.progress = .over(entry) }
        body.value = nil
    }

    /// The load of a redirect has ended, so that its metrics are known.
    func finishRedirect() {
        state.withLock { state in
            guard case .redirects(var entry, let loaded) = state.progress else { return }
            entry.add(loaded.transactionMetrics)
            state.progress = .over(entry)
        }
    }
}

/// Gives access to the body of a request once its load has started.
final class RecordedBodyReference: Sendable {
    private let body = Mutex<RecordedBody?>(nil)

    /// Nil where the request has no body.
    var value: RecordedBody? {
        get { body.withLock { $0 } }
        set { body.withLock { $0 = newValue } }
    }
}
