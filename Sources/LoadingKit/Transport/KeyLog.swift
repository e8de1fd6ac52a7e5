import Glibc

/// The file that connections' keys are appended to, a line each (draft-ietf-tls-keylogfile), for tools that decrypt
/// captures. Only where a user asked for it.
final class KeyLog: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { SystemCalls.close(descriptor) }

    /// The log at `path`, or where the environment says; `nil` when nowhere, or where it cannot be opened.
    static func open(_ path: String?) -> KeyLog? {
        guard let path = path ?? getenv("SSLKEYLOGFILE").map({ String(cString: $0) }), !path.isEmpty else { return nil }
        let descriptor = SystemCalls.open(path, O_WRONLY | O_APPEND | O_CREAT)
        return descriptor >= 0 ? KeyLog(descriptor: Int32(descriptor)) : nil
    }

    /// One call a line, which `O_APPEND` keeps whole among threads and processes.
    func append(_ line: String) {
        var text = line
        text += "\n"
        text.withUTF8 { _ = SystemCalls.write(descriptor, UnsafeRawBufferPointer($0)) }
    }
}
