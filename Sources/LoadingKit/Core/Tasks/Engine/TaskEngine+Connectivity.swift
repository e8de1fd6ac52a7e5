import Foundation
import LoadingKitTransport

extension TaskEngine {
    /// The request to load again where the task waits for a network and does not fail; nil where it fails.
    ///
    /// A task can wait only while the server has received nothing of it. A stream that is its body must therefore not
    /// be open yet, and the delegate must not be deciding about a redirect.
    func requestToRetry(after error: any Error) -> URLRequest? {
        let isStreamUnread = sentStream.map { $0.streamStatus == .notOpen } ?? true
        guard core.settings.waitsForConnectivity, task.response == nil, isStreamUnread, !hold.contains(.undecided),
            URLError(error, url: nil).code == .notConnectedToInternet
        else { return nil }
        return task.currentRequest
    }
}

/// Reloads a task's request some time after a change of the networks. Confined to the task's loop.
final class NetworkWait {
    /// The delay between a change of the networks and the retry, in seconds: changes occur in bursts, and an address
    /// appears before its route.
    private static let settlingTime = 0.1

    private weak var engine: TaskEngine?
    private var observer: NetworkMonitor.Observer?
    private var timer: LoopTimer?

    init(_ engine: TaskEngine) {
        self.engine = engine
        observer = engine.core.networks.observe { [weak self] in self?.networksDidChange() }
    }

    private func networksDidChange() {
        guard let loop = engine?.loop else { return }
        timer?.cancel()
        timer = loop.schedule(at: loop.now.advanced(bySeconds: Self.settlingTime)) { [weak self] in
            self?.engine?.loadPostponed()
        }
    }

    func stop() {
        timer?.cancel()
        observer?.cancel()
        (timer, observer) = (nil, nil)
    }
}
