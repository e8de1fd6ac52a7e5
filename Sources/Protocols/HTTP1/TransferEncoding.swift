import LoadingKitPrimitives

/// What the `Transfer-Encoding` fields of a message say (RFC 9112 §6.1).
enum TransferEncoding {
    /// There is no such field.
    case absent
    /// The last coding is `chunked`, and no other is.
    case chunked
    /// The last coding is another one, or there is none.
    case other
    /// `chunked` comes before another coding, twice, or with a parameter: no sender may do that.
    case invalid

    init(_ fields: HTTPFields) {
        guard fields.contains(.transferEncoding) else {
            self = .absent
            return
        }
        var isLastChunked = false
        var isInvalid = false
        FieldList.forEach(.transferEncoding, in: fields) { coding in
            if isLastChunked { isInvalid = true }
            isLastChunked = ASCII.equalsIgnoringCase(coding, "chunked")
            if !isLastChunked, Self.hasParameter(coding) { isInvalid = true }
        }
        self = isInvalid ? .invalid : isLastChunked ? .chunked : .other
    }

    /// Whether a coding is `chunked` with something behind it.
    private static func hasParameter(_ coding: UnsafeRawBufferPointer) -> Bool {
        guard let end = coding.firstIndex(where: { $0 == Byte.semicolon || Byte.isSpace($0) }) else { return false }
        return ASCII.equalsIgnoringCase(UnsafeRawBufferPointer(rebasing: coding[..<end]), "chunked")
    }
}
