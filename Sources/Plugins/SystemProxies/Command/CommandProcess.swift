import Foundation
import Synchronization

/// The output of a command, and its exit status.
struct CommandOutput: Sendable {
    var text = ""
    /// The text on standard error.
    var errors = ""
    /// The status from `waitpid`; nil where it is not known.
    var status: Int32?
    /// Whether a line was sufficient.
    var saidEnough = false

    /// A text for messages where the output is of no use: the output, or the exit status with the last text on standard
    /// error.
    var problem: String {
        let said = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard said.isEmpty else { return said }
        let lastWords = errors.split(whereSeparator: \.isNewline).last.map { ", with the text: \($0)" } ?? ""
        guard let status else { return "its exit status is not known\(lastWords)" }
        let signal = status & 0x7f
        return (signal != 0 ? "it was ended by signal \(signal)" : "it ended with status \(status >> 8 & 0xff)")
            + lastWords
    }
}

/// A command in a separate process, with all processes that it starts. It is ended when its time is over, or when the
/// task that waits for it is cancelled. If this process has ended by then, the system ends the command when it has used
/// more CPU time than its limit.
final class CommandProcess: Sendable {
    private enum State {
        case new
        /// The process group has the same number as the process.
        case running(pid_t)
        /// The command is to be ended, or need not be started.
        case cancelled
        case ended
    }

    /// The queue that waits for the commands' output.
    private static let queue = DispatchQueue(label: "LoadingKitSystemProxies", attributes: .concurrent)
    /// The largest number of bytes of either output.
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

    /// A line of a command's output, without its end.
    enum Line: Sendable {
        case output(String)
        case error(String)
    }

    /// - Parameters:
    ///   - input: the descriptor of its standard input, which must stay open until the command has run; nil for an
    ///     empty one.
    ///   - seconds: the time limit, at least 0.1.
    ///   - isEnough: whether a line is the last that is needed: each line is passed once. The command is then ended.
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

    /// Runs the command, once.
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
        let (output, errors) = (try CommandChannel(), try CommandChannel())
        let process = try start(output, errors)
        output.closeFar()
        errors.closeFar()
        let (result, isOver) = read(output, errors)
        // Also ends the processes that it has started, and the command itself where it does not end.
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

    private func start(_ output: CommandChannel, _ errors: CommandChannel) throws -> pid_t {
        // The shell sets the limit and becomes the command. With `stdbuf`, its lines arrive as soon as they are
        // written.
        let limit = Int(seconds.rounded(.up)) + 1
        let command = ["/bin/sh", "-c", Self.shell, "sh", "\(limit)"] + arguments
        return try state.withLock { state in
            if case .cancelled = state { throw CancellationError() }
            let process = try Spawn.start(
                command, environment, input: input, output: output.descriptor, errors: errors.descriptor)
            state = .running(process)
            return process
        }
    }

    /// Reads until a line is sufficient, or until the command has closed its output; false where its time was over
    /// first. libproxy then has no further output, and may crash, or wait forever, while it ends.
    private func read(_ output: CommandChannel, _ errors: CommandChannel) -> (CommandOutput, isOver: Bool) {
        let deadline = ContinuousClock.now.advanced(by: .seconds(seconds))
        var (isOver, saidEnough) = (false, false)
        while !isOver {
            let left = deadline - ContinuousClock.now
            guard left > .zero else { break }
            var polled = [output.polled, errors.polled]
            let milliseconds = left / .milliseconds(1)
            guard poll(&polled, 2, Int32(min(milliseconds.rounded(.up), 1_000_000))) >= 0 || errno == EINTR else {
                break
            }
            if polled[1].revents != 0 { errors.read() }
            if polled[0].revents != 0 { output.read() }
            while let line = errors.lines.next() { if isEnough(.error(line)) { saidEnough = true } }
            while let line = output.lines.next() { if isEnough(.output(line)) { saidEnough = true } }
            isOver =
                saidEnough || !output.isOpen
                || max(output.lines.bytes.count, errors.lines.bytes.count) > Self.mostOutput
        }
        // The command writes errors before the line.
        if isOver { while errors.read(), errors.lines.bytes.count <= Self.mostOutput {} }
        return (CommandOutput(text: output.lines.all, errors: errors.lines.all, saidEnough: saidEnough), isOver)
    }
}

/// One of a command's outputs: the channel to this process, and the text that was read.
///
/// The channel consists of sockets, because the system can create them so that other programs that are started at the
/// same time do not inherit them.
private final class CommandChannel {
    private let near: Int32
    private var far: Int32
    var lines = WrittenLines()
    /// Whether the command can still write.
    private(set) var isOpen = true

    init() throws(SystemProxyError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw .notStarted(errno: errno) }
        (near, far) = (pair[0], pair[1])
    }

    deinit {
        close(near)
        closeFar()
    }

    /// The command's end.
    var descriptor: Int32 { far }

    func closeFar() {
        if far >= 0 { close(far) }
        far = -1
    }

    var polled: pollfd { pollfd(fd: isOpen ? near : -1, events: Int16(POLLIN), revents: 0) }

    /// Reads available bytes, without waiting; false when there are none.
    @discardableResult func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(near, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { lines.bytes += buffer[..<count] }
        let hasMore = count > 0 || count < 0 && errno == EINTR
        isOpen = isOpen && hasMore
        return hasMore
    }
}

/// The text on one of the outputs, of which each line is decoded once.
struct WrittenLines {
    var bytes: [UInt8] = []
    private var lineStart = 0
    private var scanned = 0

    var all: String { String(decoding: bytes, as: UTF8.self) }

    /// The next complete line.
    mutating func next() -> String? {
        guard let end = bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
            scanned = bytes.count
            return nil
        }
        defer { (lineStart, scanned) = (end + 1, end + 1) }
        return String(decoding: bytes[lineStart..<end], as: UTF8.self)
    }
}

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
