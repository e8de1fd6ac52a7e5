import Foundation

/// Starts a command in a separate process group.
enum Spawn {
    /// - Parameters:
    ///   - command: a path and arguments.
    ///   - input: the descriptor of its standard input; nil for an empty one.
    static func start(
        _ command: [String], _ environment: [String: String], input: Int32?, output: Int32, errors: Int32
    ) throws(SystemProxyError) -> pid_t {
        let variables = environment.map { "\($0.key)=\($0.value)" }
        // The text after a NUL would be cut off.
        guard !(command + variables).contains(where: { $0.utf8.contains(0) }) else { throw .notStarted(errno: EINVAL) }
        var (attributes, files) = (posix_spawnattr_t(), posix_spawn_file_actions_t())
        guard posix_spawnattr_init(&attributes) == 0 else { throw .notStarted(errno: ENOMEM) }
        defer { posix_spawnattr_destroy(&attributes) }
        guard posix_spawn_file_actions_init(&files) == 0 else { throw .notStarted(errno: ENOMEM) }
        defer { posix_spawn_file_actions_destroy(&files) }
        // Default signal handling, regardless of the program's own.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETPGROUP)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        if let input {
            posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO)
        let (argv, envp) = (command.map { strdup($0) } + [nil], variables.map { strdup($0) } + [nil])
        defer { for text in argv + envp { free(text) } }
        var process = pid_t()
        let code = posix_spawn(&process, command.first ?? "", &files, &attributes, argv, envp)
        guard code == 0 else { throw .notStarted(errno: code) }
        return process
    }
}
