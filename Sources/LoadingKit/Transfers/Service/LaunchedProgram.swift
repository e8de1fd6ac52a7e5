import Foundation
import Glibc
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Starts a program for its background session, as a ``DetachedProcess`` with the environment of this process, that of the
/// session, and the session's identifier in `LOADKIT_BACKGROUND_SESSION`.
package enum LaunchedProgram {
    static let variable = "LOADKIT_BACKGROUND_SESSION"

    /// The mask of files' rights with which the daemon was started, which has another one. Programs get it, and begin in the
    /// user's folder. Nil in a process that has changed nothing.
    package static let usualMask = Guarded<mode_t?>(nil)

    /// Wait until the programs end, so that nothing is left of them in the system's table.
    private static let waiters = BlockingPool(name: "LoadingKit-wait", BlockingPool.Limits(usualThreads: 64))

    /// - Parameter command: A path and arguments.
    static func start(_ command: [String], _ session: SessionDescription) {
        let identifier = session.identifier
        // What comes behind a NUL would be cut off: that is no name of the session's.
        guard let path = command.first, !(command + [identifier]).contains(where: { $0.utf8.contains(0) }) else {
            return
        }
        var environment = ProcessInfo.processInfo.environment
        environment.merge(session.environment) { $1 }
        environment[variable] = identifier
        var (program, arguments) = (path, command)
        if let mask = usualMask.withLock({ $0 }) {
            // The mask is the process's: it cannot be changed for the new one alone.
            program = "/bin/sh"
            arguments = ["sh", "-c", "umask \"$0\"; cd; exec \"$@\"", String(mask, radix: 8)] + command
        }
        guard let process = try? DetachedProcess.start(program, arguments, environment) else { return }
        waiters.run { _ = DetachedProcess.wait(for: process) }
    }
}
