import CLoadingKitGSS

/// An error of GSS-API, with the library's text.
struct GSSError: Error {
    let text: String

    init(_ text: String) { self.text = text }

    /// - Parameters:
    ///   - major: the status that a function has returned.
    ///   - minor: the mechanism's own code.
    init(_ major: UInt32, _ minor: UInt32) {
        let words = Self.words(major, GSS_C_GSS_CODE) + (minor == 0 ? [] : Self.words(minor, GSS_C_MECH_CODE))
        text = words.isEmpty ? "GSS-API status \(major)" : words.joined(separator: ": ")
    }

    /// The upper half of a status has the error (RFC 2744 §3.9.1).
    static func check(_ major: UInt32, _ minor: UInt32) throws(GSSError) {
        if major & 0xFFFF_0000 != 0 { throw GSSError(major, minor) }
    }

    private static func words(_ status: UInt32, _ kind: Int32) -> [String] {
        var words: [String] = []
        var rest: UInt32 = 0
        repeat {
            var minor: UInt32 = 0
            var text = gss_buffer_desc()
            guard gss_display_status(&minor, status, kind, nil, &rest, &text) == GSS_S_COMPLETE else { break }
            words.append(String(decoding: text.takeBytes().prefix { $0 != 0 }, as: UTF8.self))
        } while rest != 0 && words.count < 8
        return words
    }
}

extension gss_buffer_desc {
    /// Returns the bytes, and releases the library's memory.
    mutating func takeBytes() -> [UInt8] {
        let bytes = Array(UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : length))
        var minor: UInt32 = 0
        gss_release_buffer(&minor, &self)
        return bytes
    }
}

extension Array<UInt8> {
    /// Calls a function with the bytes in the form that GSS-API requires.
    func withGSSBuffer<Result>(_ body: (gss_buffer_t) -> Result) -> Result {
        var copy = self
        return copy.withUnsafeMutableBytes { bytes in
            var buffer = gss_buffer_desc(length: bytes.count, value: bytes.baseAddress)
            return body(&buffer)
        }
    }
}
