import Foundation
import Glibc
import LoadingKitTransport

/// Starts a program for its background session: in a session of processes of its own, with nothing of this process's but the
/// environment, and the session's identifier in `LOADKIT_BACKGROUND_SESSION`.
enum LaunchedProgram {
    static let variable = "LOADKIT_BACKGROUND_SESSION"

    /// Wait until the programs end, so that nothing is left of them in the system's table.
    private static let waiters = BlockingPool(name: "LoadingKit-wait", BlockingPool.Limits(usualThreads: 64))

    /// - Parameter command: A path and arguments.
    /// - Returns: Whether it was started.
    @discardableResult
    static func start(_ command: [String], _ identifier: String) -> Bool {
        // What comes behind a NUL would be cut off: that is no name of the session's.
        guard let path = command.first, !(command + [identifier]).contains(where: { $0.utf8.contains(0) }) else {
            return false
        }
        var environment = ProcessInfo.processInfo.environment
        environment[variable] = identifier
        guard let process = spawn(path, command, environment.map { "\($0.key)=\($0.value)" }) else { return false }
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
