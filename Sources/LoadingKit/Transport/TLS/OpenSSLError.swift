import CLoadingKitOpenSSL

/// OpenSSL's last failure on this thread, as text.
enum OpenSSLError {
    /// Whether the last failure of reading PEM text was that there is no more of it.
    static var lastIsEndOfPEM: Bool {
        let last = ERR_peek_last_error()
        return lk_ERR_GET_LIB(last) == ERR_LIB_PEM && lk_ERR_GET_REASON(last) == PEM_R_NO_START_LINE
    }

    /// The first error in the queue, which is the cause of those after it; empties the queue.
    static func text() -> String {
        defer { ERR_clear_error() }
        return lastText
    }

    /// The same, and leaves the queue as it is.
    static var lastText: String {
        let code = ERR_peek_error()
        guard code != 0 else { return "no reason given" }
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress else { return "error \(code)" }
            ERR_error_string_n(code, base, buffer.count)
            return String(cString: base)
        }
    }
}
