import Foundation
import LoadingKitPersistence
import LoadingKitPrimitives
import LoadingKitTransport

/// The daemon's log. It goes to systemd's journal or to a terminal where standard error is one of these, else to
/// `daemon.log` in the user's state folder. That file is renamed to `daemon.log.1` when it is too long.
package final class DaemonLog: Sendable {
    /// In bytes.
    package static let maximumLength: Int64 = 1 << 20

    /// Nil for standard error.
    private let path: String?
    private let limit: Int64
    /// Held while a line is written.
    private let writing = Guarded<Void>(())

    /// A log in a file, whose folder may not exist yet.
    package init(path: String, limit: Int64 = DaemonLog.maximumLength) {
        (self.path, self.limit) = (path, limit)
    }

    package init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
        let isShown = environment["JOURNAL_STREAM"] != nil || isatty(STDERR_FILENO) == 1
        (path, limit) = (isShown ? nil : Self.path(environment), Self.maximumLength)
    }

    /// The path of the log file of a daemon that was started by a program.
    package static func path(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        StoreLocation.stateFolder(environment).path + "/daemon.log"
    }

    /// Writes a line. A failure is ignored: there is no place to report it.
    package func write(_ text: String) {
        let plain = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : String($0) }.joined()
        guard let path else { return append("loadkitd: \(plain)\n", to: STDERR_FILENO) }
        let date = Date().formatted(.iso8601)
        writing.withLock { _ in write("\(date) [\(getpid())] \(plain)\n", to: path) }
    }

    private func write(_ line: String, to path: String) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var status = stat()
        if SystemCalls.lstat(path, &status) >= 0, Int64(status.st_size) + Int64(line.utf8.count) > limit {
            _ = SystemCalls.rename(path, path + ".1")
        }
        let result = SystemCalls.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, mode: 0o600)
        guard result >= 0 else { return }
        append(line, to: Int32(clamping: result))
        SystemCalls.close(Int32(clamping: result))
    }

    private func append(_ line: String, to descriptor: Int32) {
        var line = line
        _ = line.withUTF8 { SystemCalls.write(descriptor, UnsafeRawBufferPointer($0)) }
    }
}
