import Foundation
import LoadingKit
import LoadingKitPersistence
import LoadingKitPrimitives
import LoadingKitTransfers
import LoadingKitTransport

/// The daemon, on threads of the same process. What it does is lost with the process.
final class SimulatedDaemon: Sendable {
    private struct Running {
        let server: DaemonServer
        let loop: EventLoop
        var service: TransferService?
    }

    /// The daemon that the process starts.
    static let shared = SimulatedDaemon()

    private let running = Guarded<Running?>(nil)

    var isRunning: Bool { running.withLock { $0 != nil } }

    /// - Parameter readiness: Closed when the daemon listens, or has ended.
    func start(readiness: Int32) {
        do {
            guard let listener = try DaemonListener(DaemonPlace.find(), readiness: readiness) else {
                _ = close(readiness)
                return
            }
            let loop = EventLoop(name: "loadkitd")
            let log = DaemonLog(path: StoreLocation.stateFolder().appendingPathComponent("daemon.log").path)
            let server = DaemonServer(on: loop, log: log, makePerformer: { try self.makeService() }) { self.didEnd() }
            running.withLock { $0 = Running(server: server, loop: loop) }
            server.start(listener)
        } catch {
            _ = close(readiness)
        }
    }

    private func makeService() throws -> TransferService {
        let service = try BackgroundComposition.makeService(in: StoreLocation.stateFolder(), patience: 5)
        running.withLock { $0?.service = service }
        return service
    }

    /// As a process's end does.
    private func didEnd() {
        let ended = running.withLock { $0.take() }
        ended?.service?.stop()
        ended?.loop.stop()
    }

    /// As a signal does.
    func stop() { running.withLock { $0?.server }?.stop("a signal") }
}
