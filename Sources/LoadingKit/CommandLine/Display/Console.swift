import Foundation
import LoadingKitPrimitives

/// Standard error: complete lines from any thread, and lines of progress that are removed before them.
final class Console: Sendable {
    static let standardError = Console(STDERR_FILENO)

    let terminal: Terminal
    private let descriptor: Int32
    /// The number of displayed lines of progress.
    private let progress = Guarded(0)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        terminal = Terminal(descriptor)
    }

    /// Writes text that ends with a line break.
    func write(_ text: String) {
        guard !text.isEmpty else { return }
        replaceProgress(by: text, lineCount: 0)
    }

    /// Displays lines in place of the previous ones. A line that is too wide for the terminal is cut off.
    func showProgress(_ lines: [String]) {
        replaceProgress(by: "\u{1b}[?7l" + lines.joined(separator: "\n") + "\u{1b}[?7h", lineCount: lines.count)
    }

    func clearProgress() { replaceProgress(by: "", lineCount: 0) }

    private func replaceProgress(by text: String, lineCount: Int) {
        progress.withLock { shown in
            // ECMA-48: cursor up, erase to the end of the display.
            let erasure = "\r" + (shown > 1 ? "\u{1b}[\(shown - 1)A" : "") + "\u{1b}[J"
            let output = (shown > 0 ? erasure : "") + text
            if !output.isEmpty { send(output) }
            shown = lineCount
        }
    }

    /// A failure is ignored, because it would have to be reported on standard error.
    private func send(_ text: String) { _ = writeAll(Array(text.utf8), to: descriptor) }
}

/// Text for standard output.
enum StandardOutput {
    /// Returns false where the reader has closed the pipe, which is no failure.
    @discardableResult
    static func write(_ text: String) throws(ToolFailure) -> Bool {
        guard let code = writeAll(Array(text.utf8), to: STDOUT_FILENO) else { return true }
        guard code == EPIPE else { throw .writing("standard output", code) }
        return false
    }
}
