import Foundation

/// The file that a body goes to. It is made when there is something to write, or an empty body has ended.
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
        // The umask takes its bits away.
        let opened = Foundation.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard opened >= 0 else { throw .writing(path, errno) }
        descriptor = opened
        return opened
    }

    /// Some file systems say only now that they could not write.
    func finish() throws(ToolFailure) {
        guard let descriptor else { return }
        self.descriptor = nil
        if close(descriptor) != 0, errno != EINTR { throw .writing(path, errno) }
    }
}
