import Dispatch
import Foundation
import LoadingKitPrimitives

/// A process in a group of its own, started with `posix_spawn`, without this process's descriptors.
///
/// Not Foundation's `Process`, which crashes now and then while other threads open and close many descriptors.
package final class ChildProcess: Sendable {
    private enum State {
        case running
        case reaped(status: Int32)
    }

    /// Descriptors that become the process's own; nil for an empty input, and for output that is discarded.
    package struct Streams {
        package var input: Int32?
        package var output: Int32?
        package var errors: Int32?

        package init(input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil) {
            self.input = input
            self.output = output
            self.errors = errors
        }
    }

    private static let mostAttempts = 1000

    package let identifier: pid_t
    private let state = Guarded(State.running)

    /// - Parameters:
    ///   - folder: where it runs; nil for this process's.
    ///   - environment: variables besides, or instead of, this process's.
    package init(
        _ executable: String, _ arguments: [String], folder: String? = nil, environment: [String: String] = [:],
        streams: Streams = Streams()
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [streams.input, streams.output, streams.errors].enumerated() {
            if let stream {
                posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(
                    &actions, Int32(number), "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
            }
        }
        // A copy of another test's connection in the child would keep that connection open.
        for descriptor in try Self.openDescriptors() { posix_spawn_file_actions_addclose(&actions, descriptor) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.setUp(&attributes)

        // Swift does not see the action that changes the folder.
        let start = folder.map { ["/usr/bin/env", "-C", $0] } ?? []
        var identifier: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = (start + [executable] + arguments).map { strdup($0) } + [nil]
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var settings: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var (code, attempts) = (Int32(ETXTBSY), 0)
        // A program that was just written is open in a child of another thread's, until that child runs its own program.
        while code == ETXTBSY, attempts < Self.mostAttempts {
            code = posix_spawn(&identifier, start.first ?? executable, &actions, &attributes, &words, &settings)
            attempts += 1
        }
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
        // Also SIGINT, which a shell has its background jobs ignore.
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    private static func openDescriptors() throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.filter { $0 > 2 }
    }

    package var hasExited: Bool {
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

    /// Blocks until the process has ended by itself, and returns its exit status.
    @discardableResult
    package func waitForExit() -> Int32 {
        state.withLock { state in
            switch state {
            case .running:
                let status = reap()
                state = .reaped(status: status)
                return status
            case .reaped(let status):
                return status
            }
        }
    }

    /// The exit status of the process, or 128 plus the signal's number, as in a shell.
    private func reap() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }

    /// Ends the process at once, wherever it is, and returns when it has ended.
    package func kill() {
        state.withLock { state in
            guard case .running = state else { return }
            Glibc.kill(identifier, SIGKILL)
            state = .reaped(status: reap())
        }
    }

    /// As a person does at a terminal.
    package func interrupt() { send(SIGINT) }

    package func send(_ signal: Int32) {
        state.withLock { state in
            if case .running = state { Glibc.kill(identifier, signal) }
        }
    }

    /// Asks the process to end, and ends its whole group by force if it takes longer than `seconds`. Returns when
    /// it has ended.
    package func stop(after seconds: Double) {
        state.withLock { state in
            switch state {
            case .running:
                Glibc.kill(identifier, SIGTERM)
                waitForExit(forceAfter: seconds)
                // Its children, should it have left any. As the process is not reaped yet, the group is still its own.
                Glibc.kill(-identifier, SIGKILL)
                state = .reaped(status: reap())
            case .reaped:
                break
            }
        }
    }

    private func waitForExit(forceAfter seconds: Double) {
        let group = -identifier
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { Glibc.kill(group, SIGKILL) }
        timer.schedule(deadline: .now() + seconds)
        timer.activate()
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        timer.cancel()
    }
}
