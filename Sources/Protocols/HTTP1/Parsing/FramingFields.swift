import LoadingKitPrimitives

/// Fields whose value is a list of elements separated by commas (RFC 9110 §5.6.1).
enum FieldList {
    /// Calls `body` with each nonempty element of all fields with this name, without surrounding white space.
    static func forEach(_ known: KnownField, in fields: HTTPFields, _ body: (UnsafeRawBufferPointer) -> Void) {
        fields.forEachValue(of: known) { value in forEachElement(value) { if !$0.isEmpty { body($0) } } }
    }

    /// Calls `body` with each element, including empty ones.
    static func forEachElement(_ value: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        var start = 0
        for index in 0...value.count where index == value.count || value[index] == ASCII.comma {
            body(UnsafeRawBufferPointer(rebasing: ASCII.trimmingSpaces(value[start..<index])))
            start = index + 1
        }
    }
}

/// The `Content-Length` field (RFC 9110 §8.6).
enum ContentLength {
    /// The number that all fields with this name contain; nil if there is no such field.
    ///
    /// The same number repeated, in one field or in several, counts as one (RFC 9112 §6.3, case 5). Any other value is
    /// an error.
    @inline(__always)
    static func parse(_ fields: HTTPFields, _ length: HTTPFields.Framing.Length) throws(HTTP1Error.Kind) -> UInt64? {
        switch length {
        case .absent: nil
        case .number(let number): number
        case .unclear: try parseList(fields)
        }
    }

    private static func parseList(_ fields: HTTPFields) throws(HTTP1Error.Kind) -> UInt64? {
        var length: UInt64?
        var problem: HTTP1Error.Kind?
        fields.forEachValue(of: .contentLength) { value in
            FieldList.forEachElement(value) { element in
                guard let number = ASCII.decimal(element) else { return problem = .malformedContentLength }
                if let length, length != number { problem = problem ?? .conflictingContentLength }
                length = number
            }
        }
        if let problem { throw problem }
        return length
    }
}

/// The meaning of the `Transfer-Encoding` fields of a message (RFC 9112 §6.1).
enum TransferEncoding {
    /// There is no such field.
    case absent
    /// The last coding is `chunked`, and no other is.
    case chunked
    /// The last coding is another one, whatever precedes it, or the list is empty.
    case other
    /// `chunked` occurs twice, or with a parameter. A sender must not do this, and its meaning is undefined.
    case invalid

    /// - Parameter fields: fields among which there is `Transfer-Encoding`.
    init(_ fields: HTTPFields) {
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

    /// Whether a coding is `chunked` followed by a parameter.
    private static func hasParameter(_ coding: UnsafeRawBufferPointer) -> Bool {
        guard let end = coding.firstIndex(where: { $0 == ASCII.semicolon || ASCII.isSpace($0) }) else { return false }
        return ASCII.equalsIgnoringCase(UnsafeRawBufferPointer(rebasing: coding[..<end]), "chunked")
    }
}
