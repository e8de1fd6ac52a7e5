import Foundation
import LoadingKitTransport

/// Waiting for a network where there is none.
extension TaskEngine {
    /// How long after a change to the networks the load is tried again, in seconds: changes come in bursts, and an address
    /// comes before its route.
    private static let settlingTime = 0.1

    /// Whether the task waits for a network rather than fail. It can wait until the server has got something of it: so a
    /// stream that is its body must not have been opened yet.
    func waitsForNetwork(after error: any Error) -> Bool {
        let isStreamUnread = sentStream.map { $0.streamStatus == .notOpen } ?? true
        guard core.settings.waitsForConnectivity, task.response == nil, isStreamUnread,
            URLError(error, url: nil).code == .notConnectedToInternet, let request = task.currentRequest
        else { return false }
        stopLoading(postponing: request)
        if networkObserver == nil {
            networkObserver = core.networks.observe { [weak self] in self?.networksChanged() }
            if delegate.exist {
                core.mailbox.post(for: task) { [delegate, session, task] in delegate.isWaiting(session, task) }
            }
        }
        return true
    }

    private func networksChanged() {
        networkTimer?.cancel()
        networkTimer = loop.schedule(at: loop.now.advanced(bySeconds: Self.settlingTime)) { [weak self] in
            self?.loadPostponed()
        }
    }

    func stopWaitingForNetwork() {
        networkTimer?.cancel()
        networkTimer = nil
        networkObserver?.cancel()
        networkObserver = nil
    }
}
