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
        do {
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: Data(text.utf8))
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
            throw .notStarted(errno: cause?.domain == NSPOSIXErrorDomain ? Int32(clamping: cause?.code ?? 0) : EIO)
        }
        lseek(descriptor, 0, SEEK_SET)
    }

    deinit { close(descriptor) }
}
