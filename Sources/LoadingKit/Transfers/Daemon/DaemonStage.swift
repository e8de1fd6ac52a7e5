import Foundation
import LoadingKitTransport

/// What a process that was started as the daemon does, as an environment variable says.
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
    /// The descriptor that the daemon closes when it accepts connections, or ends.
    static let readiness: Int32 = 3

    static func current(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> DaemonStage? {
        environment[variable].flatMap { DaemonStage(rawValue: $0) }
    }

    /// A program's environment for the daemon, which serves others, too: without what concerns that program alone.
    func environment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String: String] {
        let left = environment.filter { name, _ in
            !Self.programsOwn.contains(name.lowercased()) && !TLSEnvironment.variables.contains(name.lowercased())
                && !name.hasPrefix("LISTEN_")
        }
        return left.merging([Self.variable: rawValue]) { $1 }
    }

    private static let programsOwn: Set<String> = [
        "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "notify_socket",
        "loadkit_background_session", "journal_stream", "invocation_id", "watchdog_pid", "watchdog_usec",
    ]
}
