import LoadingKitPrimitives

/// What the `Transfer-Encoding` fields of a message say (RFC 9112 §6.1).
enum TransferEncoding {
    /// There is no such field.
    case absent
    /// The last coding is `chunked`, and no other is.
    case chunked
    /// The last coding is another one, whatever comes before it, or there is none.
    case other
    /// `chunked` comes twice, or with a parameter: no sender may do that, and no reader can tell what it means.
    case invalid

    init(_ fields: HTTPFields) {
        guard fields.contains(.transferEncoding) else {
            self = .absent
            return
        }
        var isLastChunked = false
        var hasChunked = false
        var isInvalid = false
        FieldList.forEach(.transferEncoding, in: fields) { coding in
            isLastChunked = ASCII.equalsIgnoringCase(coding, "chunked")
            if isLastChunked, hasChunked { isInvalid = true }
            hasChunked = hasChunked || isLastChunked
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
