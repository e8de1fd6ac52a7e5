import Glibc
import LoadingKitPrimitives

/// Observes changes of the system's networks (rtnetlink): interfaces, addresses, and routes. A loop's sessions share
/// one. Confined to its loop.
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

    /// The delay before the next attempt to open the socket, in seconds, where the process has no descriptor left.
    private static let reopenDelay = 5.0

    private let loop: EventLoop
    private var socket: Socket?
    private var reopenTimer: LoopTimer?
    private var observers: [WeakObserver] = []
    /// The number of changes since the monitor was made, while it had observers.
    package private(set) var changeCount = 0

    private struct WeakObserver {
        weak var observer: Observer?
    }

    private init(_ loop: EventLoop) { self.loop = loop }

    private struct Shared: @unchecked Sendable {  // the loop's thread alone uses the monitor
        weak var monitor: NetworkMonitor?
    }

    private static let shared = Guarded<[Shared]>([])

    /// The monitor that a loop's sessions share, and retain.
    package static func of(_ loop: EventLoop) -> NetworkMonitor {
        shared.withLock { shared in
            let monitors = shared.compactMap(\.monitor)
            if let monitor = monitors.first(where: { $0.loop === loop }) { return LoopTransfer(monitor) }
            let monitor = NetworkMonitor(loop)
            shared = (monitors + [monitor]).map(Shared.init)
            return LoopTransfer(monitor)
        }.value
    }

    /// Whether changes are reported: a sandbox may forbid it.
    package var reportsChanges: Bool { socket != nil }

    /// Calls back after each change, on the loop. The kind of change is not reported.
    package func observe(_ changed: @escaping () -> Void) -> Observer {
        loop.preconditionCurrent()
        let observer = Observer(self, changed)
        observers.removeAll { $0.observer == nil }
        observers.append(WeakObserver(observer: observer))
        if socket == nil { open() }
        return observer
    }

    private func remove(_ observer: Observer) {
        observers.removeAll { $0.observer == nil || $0.observer === observer }
        guard observers.isEmpty else { return }
        reopenTimer?.cancel()
        (socket, reopenTimer) = (nil, nil)
    }

    func handle(events: UInt32) {
        guard let socket else { return }
        // At first the socket is only writable, which is no change. Lost messages mean a change.
        var hasChanged = false
        while true {
            let result = SystemCalls.recv(socket.descriptor, loop.scratch.baseAddress, loop.scratch.count)
            guard result > 0 || result == -Int(ENOBUFS) else { break }
            hasChanged = true
        }
        if hasChanged { report() }
    }

    func report() {
        changeCount &+= 1
        Resolver.shared.networksDidChange()
        for observer in observers.compactMap(\.observer) { observer.changed() }
    }

    private func open() {
        let result = SystemCalls.routeSocket()
        guard result >= 0 else {
            if SystemCallFailure(.socket, result).isLackOfDescriptors { openLater() }
            return
        }
        let socket = Socket(descriptor: Int32(clamping: result), loop: loop)
        if socket.watch(by: self) == nil { self.socket = socket }
    }

    /// Tries again after a pause. If the socket opens, changes may have been missed, so a change is reported.
    private func openLater() {
        guard reopenTimer == nil else { return }
        reopenTimer = loop.schedule(at: loop.now.advanced(bySeconds: Self.reopenDelay)) { [weak self] in
            guard let self else { return }
            reopenTimer = nil
            guard socket == nil, !observers.isEmpty else { return }
            open()
            if socket != nil { report() }
        }
    }
}
