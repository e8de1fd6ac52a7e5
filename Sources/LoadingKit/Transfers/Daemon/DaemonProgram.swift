import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// The program that is started as the daemon.
package struct DaemonProgram: Hashable, Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    private static let carried = Guarded(false)

    /// Records that this program can be the daemon itself.
    package static func carriesDaemon() { carried.withLock { $0 = true } }

    /// Returns the program that `LOADKITD` names; else this program, where it includes the daemon; else `loadkitd`
    /// beside this program's executable, or in `PATH`.
    ///
    /// - Parameter isSetID: Whether this program has other rights than its caller, whose variables then do not count.
    package static func find(
        _ environment: [String: String] = ProcessInfo.processInfo.environment,
        isSetID: Bool = ProcessEnvironment.isSetID
    ) throws -> DaemonProgram {
        let environment = isSetID ? [:] : environment
        if let named = environment["LOADKITD"], !named.isEmpty {
            guard isExecutable(named) else { throw DaemonError("LOADKITD names no program: \(named)") }
            return DaemonProgram(path: URL(fileURLWithPath: named).path)
        }
        if carried.withLock({ $0 }) { return DaemonProgram(path: "/proc/self/exe") }
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let beside = own.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        let paths = ((beside.map { [$0] } ?? []) + folders).map { $0 + "/loadkitd" }
        if let path = paths.first(where: isExecutable) { return DaemonProgram(path: path) }
        throw DaemonError(
            "loadkitd is neither beside the program nor in PATH, LOADKITD does not name it, and the program does not call "
                + "LoadingKitBackground.runIfDaemon(). URLSessionConfiguration.runsInProcess needs no daemon.")
    }

    private static func isExecutable(_ path: String) -> Bool {
        var status = stat()
        return SystemCalls.stat(path, &status) >= 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    /// The time limit until the daemon accepts connections, in milliseconds.
    package static let startTime: Int32 = 10_000

    /// Starts the daemon, and returns when it accepts connections, has ended, or exceeds the time limit. Blocks.
    ///
    /// - Parameters:
    ///   - environment: The environment from which the daemon's is made.
    ///   - time: How long to wait, in milliseconds.
    package func start(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, time: Int32 = DaemonProgram.startTime
    ) throws {
        var ends: (reading: Int32, writing: Int32) = (-1, -1)
        let result = SystemCalls.pipe(reading: &ends.reading, writing: &ends.writing)
        guard result >= 0 else {
            throw DaemonError("the daemon cannot be started: \(SystemCalls.text(ofError: Int32(clamping: -result)))")
        }
        let reading = OwnedDescriptor(ends.reading)
        let starter: pid_t
        do {
            // From here on only the daemon holds the descriptor.
            let readiness = OwnedDescriptor(ends.writing)
            starter = try DetachedProcess.start(
                path, ["loadkitd"], DaemonStage.start.environment(environment), kept: readiness.number)
            withExtendedLifetime(readiness) {}
        }
        var event = pollfd(fd: reading.number, events: Int16(POLLIN), revents: 0)
        var count: Int32
        repeat { count = poll(&event, 1, time) } while count < 0 && errno == EINTR
        // A program that is not the daemon would be waited for without end.
        if count == 0 { kill(starter, SIGKILL) }
        guard DetachedProcess.wait(for: starter) != SIGKILL else {
            throw DaemonError("\(path) is not a daemon of LoadingKit: it does not go into the background")
        }
    }
}

/// The stage of a process that was started as the daemon, given by an environment variable.
///
/// ```
/// program ──▶ start ──▶ serve
///             ends at   is nobody's child,
///             once      in a session of its own
/// ```
enum DaemonStage: String {
    /// Starts the daemon and ends.
    case start
    /// Is the daemon.
    case serve

    static let variable = "LOADKIT_DAEMON_STAGE"
    /// The descriptor that the daemon closes when it accepts connections, or when it ends.
    static let readiness: Int32 = 3

    static func current(_ environment: [String: String]) -> DaemonStage? {
        environment[variable].flatMap { DaemonStage(rawValue: $0) }
    }

    /// The environment for the daemon: a program's, without the variables that concern only that program.
    func environment(_ environment: [String: String]) -> [String: String] {
        let left = environment.filter { name, _ in
            !Self.programsOwn.contains(name.lowercased()) && !TLSEnvironment.variables.contains(name.lowercased())
                && !name.hasPrefix("LISTEN_")
        }
        return left.merging([Self.variable: rawValue]) { $1 }
    }

    private static let programsOwn: Set<String> = [
        "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "notify_socket",
        "loadkit_background_session", "loadkit_har", "loadkit_inspect", "loadkit_inspect_changes",
        "loadkit_flight_record", "journal_stream", "invocation_id", "watchdog_pid", "watchdog_usec",
    ]
}
