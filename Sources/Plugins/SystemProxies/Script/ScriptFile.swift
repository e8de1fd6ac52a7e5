import Foundation

/// A script for libproxy's standard input: an unlinked file, which is deleted with the processes that have it open. A
/// pipe is not possible, because libproxy requires the file's size.
final class ScriptFile: Sendable {
    let descriptor: Int32

    init(_ text: String) throws(SystemProxyError) {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("pac-\(UUID().uuidString)").path
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .notStarted(errno: errno) }
        unlink(path)
        self.descriptor = descriptor
        if let code = Self.write(Array(text.utf8), descriptor) { throw .notStarted(errno: code) }
    }

    deinit { close(descriptor) }

    /// Returns the `errno` of a failure.
    private static func write(_ bytes: [UInt8], _ descriptor: Int32) -> Int32? {
        bytes.withUnsafeBytes { bytes -> Int32? in
            var done = 0
            while done < bytes.count {
                let count = pwrite(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(done))
                if count > 0 { done += count } else if count == 0 { return EIO } else if errno != EINTR { return errno }
            }
            return nil
        }
    }
}
