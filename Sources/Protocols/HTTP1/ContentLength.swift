import LoadingKitPrimitives

/// The `Content-Length` field (RFC 9110 §8.6).
enum ContentLength {
    /// The one number that all fields of that name give, or nil when there is none.
    ///
    /// The same number several times, in one field or in several, is taken as one (RFC 9112 §6.3, case 5); anything
    /// else is an error.
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
