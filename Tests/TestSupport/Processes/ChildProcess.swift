import Dispatch
import Foundation
import LoadingKitPrimitives

/// A process in a group of its own, started with `posix_spawn`, without this process's descriptors.
final class ChildProcess: Sendable {
    private enum State {
        case running
        case reaped
    }

    let identifier: pid_t
    private let state = Guarded(State.running)

    /// - Parameters:
    ///   - input: the descriptor that becomes its standard input; nil for an empty one.
    ///   - output: the file that its standard output and error are appended to; nil to discard them.
    init(_ executable: String, _ arguments: [String], folder: String? = nil, input: Int32? = nil, output: String? = nil)
        throws
    {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, output ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // A copy of another test's connection in the child would keep that connection open.
        for descriptor in try Self.openDescriptors() { posix_spawn_file_actions_addclose(&actions, descriptor) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.setUp(&attributes)

        var identifier: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let code = posix_spawn(&identifier, executable, &actions, &attributes, &words, environ)
        guard code == 0 else {
            throw ServerProcessError(program: executable, problem: String(cString: strerror(code)))
        }
        self.identifier = identifier
    }

    deinit { stop(after: 0) }

    /// Its own group, so that its children can be ended with it; no signal blocked, whatever this thread blocks.
    private static func setUp(_ attributes: inout posix_spawnattr_t) {
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
    }

    private static func openDescriptors() throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.filter { $0 > 2 }
    }

    var hasExited: Bool {
        state.withLock { state in
            switch state {
            case .running:
                var information = siginfo_t()
                // WNOWAIT leaves it unreaped: its number stays its own.
                let result = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
                return result != 0 || information.si_signo == SIGCHLD
            case .reaped:
                return true
            }
        }
    }

    /// Blocks until the process has ended by itself.
    func waitForExit() {
        state.withLock { state in
            switch state {
            case .running:
                while waitpid(identifier, nil, 0) < 0, errno == EINTR {}
                state = .reaped
            case .reaped:
                break
            }
        }
    }

    /// Asks the process to end, and ends its whole group by force if it takes longer than so many seconds. Returns when
    /// it has ended.
    func stop(after seconds: Double) {
        state.withLock { state in
            switch state {
            case .running:
                kill(identifier, SIGTERM)
                waitForExit(forceAfter: seconds)
                // Its children, should it have left any. As the process is not reaped yet, the group is still its own.
                kill(-identifier, SIGKILL)
                waitpid(identifier, nil, 0)
                state = .reaped
            case .reaped:
                break
            }
        }
    }

    private func waitForExit(forceAfter seconds: Double) {
        let group = -identifier
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { kill(group, SIGKILL) }
        timer.schedule(deadline: .now() + seconds)
        timer.activate()
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        timer.cancel()
    }
}
