import Foundation
import Synchronization

/// A program that takes this one's place on the terminal: it is in the same group of processes, so that it may read there and
/// gets Ctrl-C. Foundation's `Process` has a group of its own.
struct ForegroundProcess {
    private let identifier: pid_t
    private let signals: PassedSignals

    /// - Parameter environment: variables besides, or in place of, this program's.
    init(_ arguments: [String], environment: [String: String]) throws(ToolFailure) {
        signals = PassedSignals()
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A signal that this program ignores would stay ignored.
        var defaults = sigset_t()
        sigfillset(&defaults)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let all = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var identifier: pid_t = 0
        let name = arguments.first ?? ""
        let code = Self.withTexts(arguments) { arguments in
            Self.withTexts(all.map { "\($0.key)=\($0.value)" }) { environment in
                posix_spawnp(&identifier, name, nil, &attributes, arguments, environment)
            }
        }
        guard code == 0 else {
            throw ToolFailure(.usage, "\(name) cannot be run: \(String(cString: strerror(code)))")
        }
        self.identifier = identifier
        signals.pass(to: identifier)
    }

    /// Waits until the program has ended, and returns its exit status as a shell does.
    func waitUntilExit() -> Int32 {
        defer { signals.stop() }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        let ending = status & 0x7f
        return ending == 0 ? (status >> 8) & 0xff : 128 + ending
    }

    /// Calls `body` with texts as C has them, after which there is a nil.
    private static func withTexts<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}

/// The signals of a program that runs another in its place. The other decides about the terminal's, which it gets, too;
/// those that are sent to this one alone are passed on, also those that came before the other was there.
private final class PassedSignals: Sendable {
    private struct State {
        var program: pid_t?
        var waiting: [Int32] = []
    }

    private let state = Mutex(State())
    /// Set once. Dispatch's sources are thread-safe.
    private nonisolated(unsafe) var sources: [any DispatchSourceSignal] = []

    /// Returns when no signal is lost any more.
    init() {
        for number in [SIGINT, SIGQUIT] { signal(number, SIG_IGN) }
        sources = [SIGTERM, SIGHUP].map { number in
            DispatchSource.follow(number) { [weak self] in self?.pass(number) }
        }
    }

    func pass(to program: pid_t) {
        let waiting = state.withLock { state in
            state.program = program
            return state.waiting
        }
        for number in waiting { kill(program, number) }
    }

    func stop() { for source in sources { source.cancel() } }

    private func pass(_ number: Int32) {
        let program = state.withLock { state in
            if state.program == nil { state.waiting.append(number) }
            return state.program
        }
        if let program { kill(program, number) }
    }
}
