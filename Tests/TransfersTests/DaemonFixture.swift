import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransfers
import LoadingKitTransport
import TestSupport

/// A place for a daemon, and the daemons that were started there, which end with it.
final class DaemonFixture: Sendable {
    let folder: TemporaryFolder
    let place: DaemonPlace
    private let program: String
    /// In seconds.
    private let idleTime: Double

    /// - Parameter idleTime: After how many seconds without anything to do its daemons end.
    init(idleTime: Double = 60) throws {
        self.idleTime = idleTime
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.file("kept"), withIntermediateDirectories: true)
        place = DaemonPlace(folder: folder.path + "/loadkit")
        program = try ProgramRun.executable("DaemonProbe")
    }

    deinit { endDaemons() }

    /// The environment of the daemons.
    var environment: [String: String] {
        ProcessInfo.processInfo.environment.merging(
            [
                "XDG_RUNTIME_DIR": folder.path, "XDG_STATE_HOME": folder.path + "/state",
                "DAEMON_PROBE_FOLDER": folder.path + "/kept", "http_proxy": "http://proxy.invalid",
                "DAEMON_PROBE_IDLE_TIME": "\(idleTime)", "LOADKIT_HAR": folder.path + "/har", "LOADKIT_INSPECT": "1",
                "LOADKIT_INSPECT_CHANGES": "1", "LOADKIT_FLIGHT_RECORD": "SIGUSR2",
            ]
        ) { $1 }
    }

    /// - Parameters:
    ///   - library: The version of the library that the program has.
    ///   - stateFolder: Where the program's journal would be; nil where the program does not say so.
    func access(
        library: String = WireVersion.library, versions: WireVersion = .current, stateFolder: String? = nil,
        on loop: EventLoop = .next()
    ) -> DaemonAccess {
        var access = DaemonAccess(on: loop)
        // As long as a test may take.
        access.patience = 300
        access.place = { [place] in place }
        access.start = { [self] in try startDaemon() }
        access.hello = TransferMessage.Hello(
            versions: versions, library: library, process: getpid(), stateFolder: stateFolder)
        return access
    }

    func startDaemon() throws { try DaemonProgram(path: program).start(environment, time: 300_000) }

    /// The processes that were the daemon, in no order. Each has said so before it accepts connections.
    var daemons: [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/kept")) ?? []
        return names.filter { $0.hasPrefix("daemon-") }.compactMap { pid_t($0.dropFirst("daemon-".count)) }
    }

    /// Kills the one that serves.
    func killDaemon() {
        for daemon in daemons where isDaemon(daemon) { kill(daemon, SIGKILL) }
    }

    /// Ends them, and returns when they have ended.
    func endDaemons() {
        killDaemon()
        waitForDaemonsEnd()
    }

    /// The one that has the lock has ended then.
    func waitForDaemonsEnd() {
        let lock = open(place.lock, O_RDWR | O_CLOEXEC)
        guard lock >= 0 else { return }
        flock(lock, LOCK_EX)
        close(lock)
    }

    /// Numbers of processes are used again.
    private func isDaemon(_ process: pid_t) -> Bool {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe")
        return path == program
    }

    func session(_ identifier: String) -> SessionDescription {
        var session = WireSamples.session
        session.identifier = identifier
        return session
    }

    func transfer(_ identifier: Int, method: String = "GET") -> TransferRecord {
        var transfer = WireSamples.transfer
        transfer.identifier = identifier
        transfer.request.method = method
        return transfer
    }
}

/// A session that is attached, and the events that came.
final class AttachedSession: Sendable {
    let channel: any TransferChannel
    private let events: EventList

    init(_ transfers: some BackgroundTransfers, _ session: SessionDescription) {
        let events = EventList()
        self.events = events
        channel = transfers.makeChannel(for: session) { events.append($0) }
        channel.attach()
    }

    deinit { channel.detach() }

    /// The n-th event, counted from 1, when it has come.
    func event(_ number: Int) async -> TransferEvent? {
        await events.signals.wait(for: number)
        return events.event(number)
    }

    /// The state of the n-th event; nil where that is another one.
    func state(_ number: Int) async -> SessionState? {
        if case .attached(let state)? = await event(number) { state } else { nil }
    }

    /// The error of the n-th event; nil where that is another one.
    func detachment(_ number: Int) async -> TransferError? {
        if case .detached(let error)? = await event(number) { error } else { nil }
    }

    /// Sends a command; gives the error, when it was performed.
    func perform(_ command: TransferCommand, descriptors: [OwnedDescriptor] = []) async -> (any Error)? {
        await withCheckedContinuation { continuation in
            channel.send(command, descriptors: descriptors) { continuation.resume(returning: $0) }
        }
    }
}

private final class EventList: Sendable {
    private let list = Guarded<[TransferEvent]>([])
    let signals = Signals()

    func append(_ event: TransferEvent) {
        list.withLock { $0.append(event) }
        signals.fire()
    }

    func event(_ number: Int) -> TransferEvent? {
        list.withLock { $0.indices.contains(number - 1) ? $0[number - 1] : nil }
    }
}
