import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Starts processes that continue without this one: in a session of their own, with `/dev/null` as their standard
/// streams, no signal blocked or ignored, and at most one descriptor of this process.
enum DetachedProcess {
    /// - Parameters:
    ///   - arguments: The arguments, with the program's name first.
    ///   - kept: A descriptor that the process gets as ``DaemonStage/readiness``.
    /// - Returns: The process, which is a child of this process.
    static func start(
        _ executable: String, _ arguments: [String], _ environment: [String: String], kept: Int32? = nil
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for number in 0...2 as ClosedRange<Int32> {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        }
        if let kept { posix_spawn_file_actions_adddup2(&actions, kept, DaemonStage.readiness) }
        let first = kept == nil ? DaemonStage.readiness : DaemonStage.readiness + 1
        for descriptor in openDescriptors() where descriptor >= first && descriptor != kept {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        if let kept, kept >= first { posix_spawn_file_actions_addclose(&actions, kept) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // `POSIX_SPAWN_SETSID`, which Swift does not import.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | 0x80))

        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var settings: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, executable, &actions, &attributes, &words, &settings)
        guard code == 0 else {
            throw DaemonError("\(executable) cannot be started: \(SystemCalls.text(ofError: code))")
        }
        return process
    }

    /// Waits until a started process has ended. Returns the signal that has ended it; 0 where it has ended by itself.
    static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F
    }

    /// Threads that wait until the programs end, so that no zombie process remains.
    private static let waiters = BlockingPool(name: "LoadingKit-wait", BlockingPool.Limits(threads: 64))

    /// Starts a program for its background session. The program's environment is that of this process and that of the
    /// session, with the session's identifier in `LOADKIT_BACKGROUND_SESSION`.
    ///
    /// - Parameter command: A path and arguments.
    static func launch(_ command: [String], for session: SessionDescription) {
        let identifier = session.identifier
        // A string would be cut off at a NUL character, so an identifier with one is rejected.
        guard let path = command.first, !(command + [identifier]).contains(where: { $0.utf8.contains(0) }) else {
            return
        }
        var environment = ProcessInfo.processInfo.environment.merging(session.environment) { $1 }
        environment["LOADKIT_BACKGROUND_SESSION"] = identifier
        guard let process = try? start(path, command, environment) else { return }
        waiters.run { _ = wait(for: process) }
    }

    private static func openDescriptors() -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }
    }
}
