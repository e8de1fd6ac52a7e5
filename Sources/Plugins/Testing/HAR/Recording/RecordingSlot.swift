import Foundation
import LoadingKit
import Synchronization

/// One request of a recording: its position in the order, and its recorded data.
final class RecordingSlot: Sendable {
    private struct State {
        weak var task: URLSessionTask?
        var progress = Progress.loading
        var body: RecordedBody?
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
    private let state: Mutex<State>

    init(_ request: URLRequest, _ task: URLSessionTask, start: Date) {
        var head = request
        head.httpBody = nil
        self.request = head
        self.start = start
        state = Mutex(State(task: task))
    }

    /// The part of the request's body that was read; nil where the request has no body, and after the load.
    var body: RecordedBody? {
        get { state.withLock { $0.body } }
        set { state.withLock { $0.body = newValue } }
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
        state.withLock { ($0.progress, $0.body) = (.redirects(entry, loaded), nil) }
    }

    func finish(_ entry: HAREntry) {
        state.withLock { ($0.progress, $0.body) = (.over(entry), nil) }
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
