import Foundation
import Glibc
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Starts a program for its background session: in a session of processes of its own, with nothing of this process's but the
/// environment, that of the session, and the session's identifier in `LOADKIT_BACKGROUND_SESSION`.
package enum LaunchedProgram {
    static let variable = "LOADKIT_BACKGROUND_SESSION"

    /// The mask of files' rights with which the daemon was started, which has another one. Programs get it, and begin in the
    /// user's folder. Nil in a process that has changed nothing.
    package static let usualMask = Guarded<mode_t?>(nil)

    /// Wait until the programs end, so that nothing is left of them in the system's table.
    private static let waiters = BlockingPool(name: "LoadingKit-wait", BlockingPool.Limits(usualThreads: 64))

    /// - Parameter command: A path and arguments.
    /// - Returns: Whether it was started.
    @discardableResult
    static func start(_ command: [String], _ session: SessionDescription) -> Bool {
        let identifier = session.identifier
        // What comes behind a NUL would be cut off: that is no name of the session's.
        guard let path = command.first, !(command + [identifier]).contains(where: { $0.utf8.contains(0) }) else {
            return false
        }
        var environment = ProcessInfo.processInfo.environment
        environment.merge(session.environment) { $1 }
        environment[variable] = identifier
        let words = environment.map { "\($0.key)=\($0.value)" }
        var (program, arguments) = (path, command)
        if let mask = usualMask.withLock({ $0 }) {
            // The mask is the process's: it cannot be changed for the new one alone.
            program = "/bin/sh"
            arguments = ["sh", "-c", "umask \"$0\"; cd; exec \"$@\"", String(mask, radix: 8)] + command
        }
        guard let process = spawn(program, arguments, words) else { return false }
        waiters.run { while waitpid(process, nil, 0) == -1, errno == EINTR {} }
        return true
    }

    private static func spawn(_ path: String, _ arguments: [String], _ environment: [String]) -> pid_t? {
        var (attributes, files) = (posix_spawnattr_t(), posix_spawn_file_actions_t())
        guard posix_spawnattr_init(&attributes) == 0 else { return nil }
        defer { posix_spawnattr_destroy(&attributes) }
        guard posix_spawn_file_actions_init(&files) == 0 else { return nil }
        defer { posix_spawn_file_actions_destroy(&files) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        // What this process ignores, as the daemon does SIGPIPE, a program would ignore, too.
        posix_spawnattr_setsigdefault(&attributes, &all)
        // POSIX_SPAWN_SETSID, which the system's module has in some versions alone.
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | 0x80
        posix_spawnattr_setflags(&attributes, Int16(flags))
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_RDWR, 0)
        }
        var process = pid_t()
        let (argv, envp) = (arguments.map { strdup($0) } + [nil], environment.map { strdup($0) } + [nil])
        defer { for text in argv + envp { free(text) } }
        return posix_spawn(&process, path, &files, &attributes, argv, envp) == 0 ? process : nil
    }
}
