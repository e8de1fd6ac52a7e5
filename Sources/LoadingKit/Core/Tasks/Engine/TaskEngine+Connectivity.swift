import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

extension TaskEngine {
    /// Returns the request to load again if the task waits for a network; nil if the task fails.
    ///
    /// A lookup that fails may have begun in a network that is no longer there. The lookup is repeated
    /// only once, because in some systems the networks change all the time.
    func takeRequestToRetry(after error: any Error) -> URLRequest? {
        guard core.settings.waitsForConnectivity, let request = repeatableRequest else { return nil }
        switch URLError(error, url: nil).code {
        case .notConnectedToInternet: break
        case .cannotFindHost, .dnsLookupFailed:
            guard networksHaveChanged, !hasRepeatedLookup else { return nil }
            hasRepeatedLookup = true
        case _: return nil
        }
        return request
    }

    /// The request to load again where the load has failed only because a new one would begin in another way
    /// (``LoadFailure/needsNewLoad``); nil if the task fails.
    func requestToLoadAnew(after error: any Error) -> URLRequest? {
        (error as? LoadFailure)?.needsNewLoad == true ? repeatableRequest : nil
    }

    /// The request, if another load of it can replace the current one; otherwise nil. The program must have got no
    /// response. A stream that is the body must not be open yet, and the delegate must not be deciding about a
    /// redirect.
    private var repeatableRequest: URLRequest? {
        let isStreamUnread = sentStream.map { $0.streamStatus == .notOpen } ?? true
        guard task.response == nil, isStreamUnread, !hold.contains(.undecided) else { return nil }
        return task.currentRequest
    }
}

/// Reloads a task's request some time after a change of the networks. Confined to the task's loop.
final class NetworkWait {
    /// The delay between a change of the networks and the retry, in seconds: changes occur in bursts, and an address
    /// appears before its route.
    private static let settlingTime = 0.1
    /// The delay between retries, in seconds, where changes are not reported.
    private static let retryInterval = 5.0

    private weak var engine: TaskEngine?
    private var observer: NetworkMonitor.Observer?
    private var timer: LoopTimer?
    /// The time at which the timer fires.
    private var due = MonotonicTime.distantFuture

    init(_ engine: TaskEngine) {
        self.engine = engine
        observer = engine.core.networks.observe { [weak self] in self?.retry(after: Self.settlingTime) }
    }

    /// The task waits, for the first time or again.
    ///
    /// - Parameter hasMissedChange: whether the networks have changed during the attempt.
    func begin(hasMissedChange: Bool) {
        if hasMissedChange {
            retry(after: Self.settlingTime)
        } else if engine?.core.networks.reportsChanges == false {
            retry(after: Self.retryInterval)
        }
    }

    /// A later time does not replace an earlier one: where the networks change all the time, the retry would be put off
    /// without end.
    private func retry(after seconds: Double) {
        guard let loop = engine?.loop else { return }
        let time = loop.now.advanced(bySeconds: seconds)
        guard time < due else { return }
        timer?.cancel()
        due = time
        timer = loop.schedule(at: time) { [weak self] in
            guard let self else { return }
            due = .distantFuture
            engine?.loadPostponed()
        }
    }

    func stop() {
        timer?.cancel()
        observer?.cancel()
        (timer, observer) = (nil, nil)
    }
}
