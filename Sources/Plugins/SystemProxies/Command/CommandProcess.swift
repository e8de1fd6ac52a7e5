import Foundation
import Synchronization

/// What a command has written, and how it ended.
struct CommandOutput: Sendable {
    var text = ""
    /// On the standard error output.
    var errors = ""
    /// As `waitpid` gives it; nil where that is not known.
    var status: Int32?
    /// Whether there was a line that was enough.
    var saidEnough = false

    /// For messages, where the text is of no use: that, or how it ended, with its last words on the standard error output.
    var problem: String {
        let said = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard said.isEmpty else { return said }
        let lastWords = errors.split(whereSeparator: \.isNewline).last.map { ", and said: \($0)" } ?? ""
        guard let status else { return "how it ended is not known\(lastWords)" }
        let signal = status & 0x7f
        return (signal != 0 ? "it was ended by signal \(signal)" : "it ended with status \(status >> 8 & 0xff)")
            + lastWords
    }
}

/// A command in a process of its own, with whatever that starts: it is ended when its time is over, when the task that waits
/// for it is cancelled, and by the system when it has computed for longer than its time, should this process be gone by then.
final class CommandProcess: Sendable {
    private enum State {
        case new
        /// Its processes' group has the same number.
        case running(pid_t)
        /// It is to be ended, or need not be started.
        case cancelled
        case ended
    }

    /// Where the commands' output is waited for.
    private static let queue = DispatchQueue(label: "LoadingKitSystemProxies", attributes: .concurrent)
    /// Most bytes of either output.
    private static let mostOutput = 1024 * 1024

    private static let shell = """
        ulimit -t "$1"; shift
        command -v stdbuf > /dev/null && exec stdbuf -oL "$@"
        exec "$@"
        """

    private let state = Mutex(State.new)
    private let arguments: [String]
    private let environment: [String: String]
    private let input: Int32?
    private let seconds: Double
    private let isEnough: @Sendable (Line) -> Bool

    /// A line that a command has written, without its end.
    enum Line: Sendable {
        case output(String)
        case error(String)
    }

    /// - Parameters:
    ///   - input: the descriptor of its standard input, which is to stay open until it has run; nil for an empty one.
    ///   - seconds: how long it may take, from 0.1.
    ///   - isEnough: whether a line is the last that is needed: each is looked at once. The command is ended then.
    init(
        _ arguments: [String], _ environment: [String: String], input: Int32?, seconds: Double,
        isEnough: @escaping @Sendable (Line) -> Bool
    ) {
        self.arguments = arguments
        self.environment = environment
        self.input = input
        self.seconds = seconds
        self.isEnough = isEnough
    }

    /// Runs it, once.
    func run() async throws -> CommandOutput {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Self.queue.async { continuation.resume(with: Result { try self.runToItsEnd() }) }
            }
        } onCancel: {
            state.withLock { state in
                if case .running(let process) = state { kill(-process, SIGKILL) }
                if case .ended = state { return }
                state = .cancelled
            }
        }
    }

    private func runToItsEnd() throws -> CommandOutput {
        let (output, errors) = (try SocketPair(), try SocketPair())
        let process = try start(output, errors)
        output.closeFar()
        errors.closeFar()
        let (result, isOver) = read(output, errors)
        // What it has started, too, and itself where it does not end.
        kill(-process, SIGKILL)
        let wasCancelled = state.withLock { state in
            defer { state = .ended }
            if case .cancelled = state { return true } else { return false }
        }
        var (written, status) = (result, Int32(0))
        var waited: pid_t
        repeat { waited = waitpid(process, &status, 0) } while waited == -1 && errno == EINTR
        written.status = waited == process ? status : nil
        if wasCancelled { throw CancellationError() }
        if !isOver { throw SystemProxyError.timedOut(seconds: seconds) }
        return written
    }

    private func start(_ output: SocketPair, _ errors: SocketPair) throws -> pid_t {
        // The shell sets the limit and becomes the command, whose line comes as soon as it is written, where `stdbuf` is there.
        let limit = Int(seconds.rounded(.up)) + 1
        let command = ["/bin/sh", "-c", Self.shell, "sh", "\(limit)"] + arguments
        return try state.withLock { state in
            if case .cancelled = state { throw CancellationError() }
            let process = try Spawn.start(
                command, environment, input: input, output: output.far.value, errors: errors.far.value)
            state = .running(process)
            return process
        }
    }

    /// Reads until a line is enough, or until the command has closed its output; false where its time was over first. libproxy has nothing more
    /// to say then, and may crash, or wait for ever, while it ends.
    private func read(_ output: SocketPair, _ errors: SocketPair) -> (CommandOutput, isOver: Bool) {
        let deadline = ContinuousClock.now.advanced(by: .seconds(seconds))
        var (text, said) = (WrittenLines(), WrittenLines())
        var (isOver, saidEnough) = (false, false)
        while !isOver {
            let left = deadline - ContinuousClock.now
            guard left > .zero else { break }
            var polled = [
                pollfd(fd: output.near.value, events: Int16(POLLIN), revents: 0),
                pollfd(fd: errors.isOpen ? errors.near.value : -1, events: Int16(POLLIN), revents: 0),
            ]
            let milliseconds = left / .milliseconds(1)
            guard poll(&polled, 2, Int32(min(milliseconds.rounded(.up), 1_000_000))) >= 0 || errno == EINTR else {
                break
            }
            if polled[1].revents != 0, !errors.read(into: &said.bytes) { errors.isOpen = false }
            if polled[0].revents != 0, !output.read(into: &text.bytes) { isOver = true }
            while let line = said.next() { if isEnough(.error(line)) { saidEnough = true } }
            while let line = text.next() { if isEnough(.output(line)) { saidEnough = true } }
            if saidEnough || text.bytes.count > Self.mostOutput || said.bytes.count > Self.mostOutput { isOver = true }
        }
        // It writes errors before the line.
        if isOver { while errors.read(into: &said.bytes), said.bytes.count <= Self.mostOutput {} }
        return (CommandOutput(text: text.all, errors: said.all, saidEnough: saidEnough), isOver)
    }
}

/// What was written on one of the outputs, of which each line is decoded once.
struct WrittenLines {
    var bytes: [UInt8] = []
    private var lineStart = 0
    private var scanned = 0

    var all: String { String(decoding: bytes, as: UTF8.self) }

    /// The next line that is whole.
    mutating func next() -> String? {
        guard let end = bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
            scanned = bytes.count
            return nil
        }
        defer { (lineStart, scanned) = (end + 1, end + 1) }
        return String(decoding: bytes[lineStart..<end], as: UTF8.self)
    }
}

/// A way from the command to this process: sockets, as the system makes them unknown to other programs that are started at the
/// same time.
private final class SocketPair {
    struct Descriptor {
        var value: Int32
    }

    let near: Descriptor
    private(set) var far: Descriptor
    /// Whether the command can still write.
    var isOpen = true

    init() throws(SystemProxyError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw .notStarted(errno: errno) }
        near = Descriptor(value: pair[0])
        far = Descriptor(value: pair[1])
    }

    deinit {
        close(near.value)
        closeFar()
    }

    func closeFar() {
        if far.value >= 0 { close(far.value) }
        far.value = -1
    }

    /// Appends what is there, without waiting; false when there is nothing more.
    func read(into bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(near.value, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { bytes += buffer[..<count] }
        return count > 0 || count < 0 && errno == EINTR
    }
}
