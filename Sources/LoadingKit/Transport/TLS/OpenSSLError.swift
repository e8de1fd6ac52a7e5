import CLoadingKitOpenSSL

/// OpenSSL's last failure on this thread, as text.
enum OpenSSLError {
    /// Whether reading PEM text last failed because there is no more of it.
    static var lastIsEndOfPEM: Bool {
        let last = ERR_peek_last_error()
        return lk_ERR_GET_LIB(last) == ERR_LIB_PEM && lk_ERR_GET_REASON(last) == PEM_R_NO_START_LINE
    }

    /// Whether there was no memory. OpenSSL may have gone on without what it could not allocate.
    static var isLackOfMemory: Bool {
        [ERR_peek_error(), ERR_peek_last_error()].contains { lk_ERR_GET_REASON($0) == lk_ERR_R_MALLOC_FAILURE }
    }

    /// The text of the first error in the queue, which is the cause of the later ones. Empties the queue.
    static func text() -> String {
        defer { ERR_clear_error() }
        return lastText
    }

    /// The text of the first error in the queue. Does not change the queue.
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
