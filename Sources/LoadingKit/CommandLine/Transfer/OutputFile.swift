import Foundation

/// The destination file of a body. It is created with the first bytes, or at the end of an empty body.
final class OutputFile {
    private let path: String
    private var descriptor: Int32?

    init(_ path: String) { self.path = path }

    deinit { if let descriptor { close(descriptor) } }

    func open() throws(ToolFailure) {
        _ = try openDescriptor()
    }

    func write(_ data: Data) throws(ToolFailure) {
        let descriptor = try openDescriptor()
        if let code = DescriptorWriter(descriptor).write(data) { throw .writing(path, code) }
    }

    private func openDescriptor() throws(ToolFailure) -> Int32 {
        if let descriptor { return descriptor }
        // Without the bits of the umask.
        let opened = Foundation.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard opened >= 0 else { throw .writing(path, errno) }
        descriptor = opened
        return opened
    }

    /// Some file systems report write errors only here.
    func finish() throws(ToolFailure) {
        guard let descriptor else { return }
        self.descriptor = nil
        if close(descriptor) != 0, errno != EINTR { throw .writing(path, errno) }
    }
}

/// Writes all given bytes to a file descriptor, blocking.
struct DescriptorWriter {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Nil, or the error's number.
    func write(_ bytes: some ContiguousBytes) -> Int32? {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                if count >= 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                } else if errno == EAGAIN {
                    waitUntilWritable()
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }

    /// The process that started this process may have made the descriptor non-blocking.
    private func waitUntilWritable() {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, -1)
    }
}
