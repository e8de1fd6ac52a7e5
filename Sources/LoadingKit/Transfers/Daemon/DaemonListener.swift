import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// The socket on which the daemon listens: its own socket, in the place whose lock makes it the only daemon, or a
/// socket that systemd has made.
package final class DaemonListener: Sendable {
    /// The file at the socket's path.
    private enum SocketFile: Equatable {
        case missing
        case file(device: UInt64, number: UInt64)
        /// It cannot be found out.
        case unknown
    }

    let place: DaemonPlace
    private let lock: ProcessLock
    /// The socket that systemd has made; nil where the daemon makes its own.
    private let activated: Int32?
    var isActivated: Bool { activated != nil }
    /// Closed when the daemon listens. The program that started the daemon waits for this.
    private let readiness: Int32?
    /// The file of the socket on which the daemon listens.
    private let ownFile = Guarded(SocketFile.unknown)

    /// Nil where another daemon runs.
    ///
    /// - Parameters:
    ///   - activated: The descriptor of a socket that listens already. Where another daemon runs, the initializer
    ///     waits for its end: systemd would start this daemon again and again while a connection waits at its socket.
    ///   - readiness: A descriptor to close when the daemon listens.
    package init?(_ place: DaemonPlace, activated: Int32? = nil, readiness: Int32? = nil) throws {
        try place.prepare()
        guard let lock = try ProcessLock.take(place.lock, waits: activated != nil) else { return nil }
        if activated == nil { try place.removeSocket() }
        (self.place, self.lock, self.activated, self.readiness) = (place, lock, activated, readiness)
    }

    func listen(on loop: EventLoop) -> Result<LocalListener, SystemCallFailure> {
        if let activated { return LocalListener.adopt(activated, on: loop) }
        let listening = LocalListener.listen(at: place.socket, on: loop)
        let file = socketFile
        ownFile.withLock { $0 = file }
        return listening
    }

    private var socketFile: SocketFile {
        var status = stat()
        switch SystemCalls.lstat(place.socket, &status) {
        case 0: return .file(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        case -Int(ENOENT) where SystemCalls.lstat(place.folder, &status) == 0: return .missing
        // Also where the whole folder is gone, as after the user's logout: the transfers go on.
        case _: return .unknown
        }
    }

    /// Whether no program can connect any more: the daemon's own socket was removed, or replaced by another one. systemd
    /// does so when its unit is installed while the daemon runs.
    var isSocketLost: Bool {
        let own = ownFile.withLock { $0 }
        guard case .file = own else { return false }
        let file = socketFile
        return file != .unknown && file != own
    }

    func announce() { if let readiness { SystemCalls.close(readiness) } }

    /// Removes the daemon's own socket, so that a program that connects from now on starts the next daemon.
    func releaseSocket() { if activated == nil, !isSocketLost { _ = SystemCalls.unlink(place.socket) } }

    /// The first socket that systemd has passed (`sd_listen_fds`), where it was passed to this process.
    package static func activatedSocket(_ environment: [String: String]) -> Int32? {
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == getpid(),
            let count = environment["LISTEN_FDS"].flatMap({ Int($0) }), count >= 1
        else { return nil }
        return 3
    }
}
