import Foundation
import LoadingKitPrimitives
import Logging

/// Standard error: complete lines from any thread, and a progress line that is removed before them.
final class Console: Sendable {
    static let standardError = Console(STDERR_FILENO)

    let terminal: Terminal
    private let descriptor: Int32
    private let hasProgress = Guarded(false)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        terminal = Terminal(descriptor)
    }

    /// Writes text that ends with a line break.
    func write(_ text: String) {
        guard !text.isEmpty else { return }
        hasProgress.withLock { hasProgress in
            send((hasProgress ? Self.erasure : "") + text)
            hasProgress = false
        }
    }

    /// Displays a line in place of the previous one.
    func showProgress(_ line: String) {
        hasProgress.withLock { hasProgress in
            send(Self.erasure + line)
            hasProgress = true
        }
    }

    func clearProgress() {
        hasProgress.withLock { hasProgress in
            if hasProgress { send(Self.erasure) }
            hasProgress = false
        }
    }

    /// Moves to the line's start, and erases the line.
    private static let erasure = "\r\u{1b}[K"

    /// A failure is ignored, because it would have to be reported on standard error.
    private func send(_ text: String) { _ = DescriptorWriter(descriptor).write(Array(text.utf8)) }
}

/// Text for standard output. Failures are ignored, for example when the reader has closed the pipe.
enum StandardOutput {
    static func write(_ text: String) {
        _ = DescriptorWriter(STDOUT_FILENO).write(Array(text.utf8))
    }
}

/// Displays the messages of the library's logger, for `-vv`.
struct ConsoleLog: LogHandler {
    let console: Console
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(_ console: Console) { self.console = console }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { console.write("* \(PlainText.line("\(event.message)"))\n") }
}
