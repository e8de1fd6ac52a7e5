import CLoadingKitOpenSSL

/// A call of OpenSSL that failed, with what its error queue said.
public struct OpenSSLError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What was being done, such as "signing a certificate".
    public var operation: String
    /// The library's reasons, oldest first.
    public var reasons: [String]

    /// The operation and the reasons, in one line.
    public var description: String {
        reasons.isEmpty ? "\(operation) failed" : "\(operation) failed: \(reasons.joined(separator: "; "))"
    }

    /// Takes the reasons out of this thread's error queue.
    init(_ operation: String) {
        self.operation = operation
        reasons = Self.drainQueue()
    }

    init(_ operation: String, reason: String) {
        self.operation = operation
        reasons = [reason]
    }

    private static func drainQueue() -> [String] {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            if code == 0 { return reasons }
            var text = [CChar](repeating: 0, count: 256)
            ERR_error_string_n(code, &text, text.count)
            reasons.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
    }
}

/// The pointer, or an error that names the operation that should have made it.
func required<T>(_ pointer: T?, _ operation: @autoclosure () -> String) throws(OpenSSLError) -> T {
    guard let pointer else { throw OpenSSLError(operation()) }
    return pointer
}

/// Checks OpenSSL's usual way to report: anything but 1 or more is a failure.
func check(_ result: Int32, _ operation: @autoclosure () -> String) throws(OpenSSLError) {
    guard result > 0 else { throw OpenSSLError(operation()) }
}
