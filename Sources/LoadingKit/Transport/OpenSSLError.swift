import COpenSSL

/// What OpenSSL says about its last failure on this thread.
enum OpenSSLError {
    /// The first error in the queue, which is the cause of those after it; empties the queue.
    static func text() -> String {
        let code = ERR_peek_error()
        defer { ERR_clear_error() }
        guard code != 0 else { return "no reason given" }
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress else { return "error \(code)" }
            ERR_error_string_n(code, base, buffer.count)
            return String(cString: base)
        }
    }
}
