import Foundation
import LoadingKitPersistence
import LoadingKitTransport

/// The server of `loadkitd`, for all programs of a user. Confined to its event loop.
package final class DaemonServer: @unchecked Sendable {  // confined to the loop
    /// The server's limits. Times are in seconds.
    package struct Limits: Sendable {
        package var idleTime = 60.0
        package var timeToGreet = 10.0
        /// The time for which a program that has greeted may send nothing, where it has no session attached.
        package var quietTime = 60.0
        package var maximumConnections = 1024
        /// The number of a program's commands that may wait to be performed. At this limit, reading is paused.
        package var maximumCommands = 1000
        /// The number of bytes that may wait for a program that does not read.
        package var maximumWaiting = SocketLink.maximumWaiting

        package init() {}
    }

    package typealias MakePerformer = @Sendable () throws -> any TransferPerformer

    let loop: EventLoop
    let limits: Limits
    let log: DaemonLog
    private let makePerformer: MakePerformer
    private let didEnd: @Sendable () -> Void
    private var performer: (any TransferPerformer)?
    private var isPerformerIdle = true
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var idleTimer: LoopTimer?
    /// The timer of the next check whether programs can still connect.
    private var socketTimer: LoopTimer?
    /// The listener; nil before the server starts, and after it has ended.
    private var serving: (listener: LocalListener, place: DaemonListener)?

    /// - Parameters:
    ///   - makePerformer: Makes the performer. Where it throws, the error is reported to the session, and the closure
    ///     is called again for the next session.
    ///   - didEnd: Called once, on the loop, when the server has ended.
    package init(
        on loop: EventLoop, limits: Limits = Limits(), log: DaemonLog, makePerformer: @escaping MakePerformer,
        didEnd: @escaping @Sendable () -> Void
    ) {
        (self.loop, self.limits, self.log) = (loop, limits, log)
        (self.makePerformer, self.didEnd) = (makePerformer, didEnd)
    }

    package func start(_ place: DaemonListener) {
        loop.execute { [self] in
            switch place.listen(on: loop) {
            case .failure(let error):
                log.write("cannot listen: \(error)")
                didEnd()
            case .success(let listener):
                serving = (listener, place)
                listener.didAccept = { [weak self] in self?.accept($0) }
                // The transfers in the journal continue, whether a program connects or not.
                _ = try? performerOrError()
                if let failure = listener.start() { return end("cannot listen: \(failure)") }
                place.announce()
                log.write("serves \(place.place.socket), version \(WireVersion.library)")
                if !place.isActivated { watchSocket() }
                considerIdleness()
            }
        }
    }

    /// Ends the server. The next daemon continues the transfers.
    package func stop(_ reason: String) { loop.execute { self.end(reason) } }

    private func end(_ reason: String) {
        guard let (listener, place) = serving.take() else { return }
        idleTimer?.cancel()
        socketTimer?.cancel()
        listener.close()
        for connection in connections.values { connection.end() }
        connections = [:]
        place.releaseSocket()
        log.write("ends: \(reason)")
        didEnd()
    }

    /// Ends the server when its socket was removed or replaced: the next daemon waits for its end, and the attached
    /// programs connect to that one then.
    private func watchSocket() {
        socketTimer = loop.schedule(at: loop.now.advanced(bySeconds: limits.idleTime)) { [weak self] in
            guard let self, let place = serving?.place else { return }
            if place.isSocketLost { end("its socket was removed or replaced") } else { watchSocket() }
        }
    }

    // MARK: Connections

    /// On the loop.
    package var connectionCount: Int { connections.count }

    private func accept(_ socket: LocalSocket) {
        guard socket.peerUser == geteuid() else {
            log.write("refuses a process of another user")
            return socket.close()
        }
        guard connections.count < limits.maximumConnections else {
            log.write("refuses a connection: there are \(connections.count)")
            return socket.close()
        }
        let connection = ServerConnection(socket, self)
        connections[ObjectIdentifier(connection)] = connection
        idleTimer?.cancel()
        connection.start()
    }

    func connectionDidEnd(_ connection: ServerConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        // A connection may wait because no file descriptor was free.
        if let listener = serving?.listener { loop.executeLater { listener.acceptAll() } }
        considerIdleness()
    }

    /// Checks whether other programs that have the session attached have ended.
    func noticeEnds(ofSession identifier: String, but connection: ServerConnection) {
        for other in connections.values where other !== connection && other.session == identifier {
            other.link.read()
        }
    }

    /// The folder of the journal. A program whose environment gives another folder replaces the daemon. Nil where
    /// systemd has made the socket: systemd would start the next daemon in the same environment.
    var stateFolder: String? { serving?.place.isActivated ?? false ? nil : StoreLocation.stateFolder().path }

    // MARK: Performing

    func performerOrError() throws -> any TransferPerformer {
        if let performer { return performer }
        let made: any TransferPerformer
        do { made = try makePerformer() } catch {
            log.write("cannot perform transfers: \(error)")
            throw error
        }
        performer = made
        isPerformerIdle = false
        made.observeIdleness { [weak self] isIdle in
            guard let self else { return }
            loop.execute {
                self.isPerformerIdle = isIdle
                self.considerIdleness()
            }
        }
        return made
    }

    /// Whether the daemon has nothing to do.
    var isIdle: Bool { isPerformerIdle && !connections.values.contains { $0.session != nil } }

    private func considerIdleness() {
        idleTimer?.cancel()
        guard serving != nil, isPerformerIdle, connections.isEmpty else { return }
        idleTimer = loop.schedule(at: loop.now.advanced(bySeconds: limits.idleTime)) { [weak self] in
            self?.end("nothing is to do")
        }
    }

    func programAsksForEnd(_ ending: TransferMessage.Goodbye.Ending) {
        switch ending {
        case .always: end("a program asks for it")
        case .ifIdle where isIdle: end("a newer version takes its place")
        case .ifIdle: break
        }
    }
}
