import Foundation

/// A program that runs beside this one.
struct ChildProcess {
    private let identifier: pid_t

    /// Starts a program, which is looked up in `PATH`.
    init(_ path: String, _ arguments: [String], input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) throws {
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        // Dispatch blocks signals on its threads; a shell that never hears of its children waits for ever.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let texts = ([path] + arguments).map { strdup($0) } + [nil]
        defer { texts.forEach { free($0) } }
        var process = pid_t()
        let error = posix_spawnp(&process, path, &actions, &attributes, texts, environ)
        guard error == 0 else { throw Failure("\(path) does not start: \(String(cString: strerror(error)))") }
        identifier = process
    }

    /// Ends the program, whatever it does.
    func kill() { _ = Glibc.kill(identifier, SIGKILL) }

    /// Waits for the program's end.
    ///
    /// - Returns: its status, and microseconds of the user's and the system's processor time, its start included.
    func wait() -> (status: Int32, processorTime: Double) {
        var (status, usage) = (Int32(0), rusage())
        while wait4(identifier, &status, 0, &usage) < 0, errno == EINTR {}
        return (status, Self.microseconds(usage.ru_utime) + Self.microseconds(usage.ru_stime))
    }

    private static func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
}
