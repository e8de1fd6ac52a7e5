import Glibc
import LoadingKitPrimitives

/// Observes changes of the system's networks (rtnetlink): interfaces, addresses, and routes. Confined to its loop.
package final class NetworkMonitor: EventSource {
    /// One observer, which is notified until it is released or cancelled.
    package final class Observer {
        fileprivate let changed: () -> Void
        private weak var monitor: NetworkMonitor?

        fileprivate init(_ monitor: NetworkMonitor, _ changed: @escaping () -> Void) {
            self.monitor = monitor
            self.changed = changed
        }

        package func cancel() { monitor?.remove(self) }
    }

    private let loop: EventLoop
    private var descriptor: Int32 = -1
    private var token: UInt64?
    private var observers: [Observer] = []

    package init(_ loop: EventLoop) { self.loop = loop }

    deinit { if descriptor >= 0 { SystemCalls.close(descriptor) } }

    /// Calls back after each change, on the loop. The kind of change is not reported: observers retry operations that
    /// failed.
    package func observe(_ changed: @escaping () -> Void) -> Observer {
        loop.preconditionCurrent()
        let observer = Observer(self, changed)
        observers.append(observer)
        if descriptor < 0 { open() }
        return observer
    }

    private func remove(_ observer: Observer) {
        observers.removeAll { $0 === observer }
        if observers.isEmpty { close() }
    }

    func handle(events: UInt32) {
        guard descriptor >= 0 else { return }
        // No change is reported if the socket is only writable, as at first. Lost messages are reported, as they mean a
        // change.
        var hasChanged = false
        while true {
            let result = SystemCalls.recv(descriptor, loop.scratch.baseAddress, loop.scratch.count)
            guard result > 0 || result == -Int(ENOBUFS) else { break }
            hasChanged = true
        }
        if hasChanged { for observer in observers { observer.changed() } }
    }

    private func open() {
        let result = SystemCalls.routeSocket()
        guard result >= 0 else { return }
        descriptor = Int32(result)
        guard case .success(let token) = loop.register(descriptor, self) else { return close() }
        self.token = token
    }

    private func close() {
        if let token { loop.sources.remove(token) }
        if descriptor >= 0 { SystemCalls.close(descriptor) }
        token = nil
        descriptor = -1
    }
}
