import CLoadingKitShims

/// What bytes a field's name and value may have when it is sent (RFC 9113 §8.2.1, RFC 9110 §5).
enum FieldBytes {
    /// Whether bytes are a token; its capital letters are made small when they are sent.
    static func isToken(_ name: UnsafeRawBufferPointer) -> Bool {
        guard let base = name.baseAddress, !name.isEmpty else { return false }
        return lk_token_end(base.assumingMemoryBound(to: UInt8.self), name.count) == name.count
    }

    /// Whether bytes are a value that may be sent: no NUL, CR or LF, and no white space around it.
    static func isValue(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let first = value.first, let last = value.last else { return true }
        guard first != 0x20, first != 0x09, last != 0x20, last != 0x09 else { return false }
        for byte in value where byte < 0x0e && (byte == 0 || byte == 0x0a || byte == 0x0d) { return false }
        return true
    }

    /// Whether text is not empty and has no white space or control character: a path, an authority.
    static func isVisible(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            for byte in bytes where byte <= 0x20 || byte == 0x7f { return false }
            return !bytes.isEmpty
        }
    }
}
