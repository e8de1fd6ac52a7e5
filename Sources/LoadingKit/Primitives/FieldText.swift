/// How the bytes of a field become a `String`.
package enum FieldText {
    /// UTF-8 where the bytes are valid UTF-8, else ISO-8859-1, in which every byte is a character (RFC 9110 §5.5 calls
    /// them obs-text and leaves their meaning open).
    package static func string(_ bytes: UnsafeRawBufferPointer) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }
}
