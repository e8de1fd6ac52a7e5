import LoadingKitPrimitives

/// The `Content-Length` field (RFC 9110 §8.6).
enum ContentLength {
    /// The one number that all fields of that name give, or nil when there is none.
    ///
    /// The same number several times, in one field or in several, is taken as one (RFC 9112 §6.3, case 5); anything
    /// else is an error.
    static func parse(_ fields: HTTPFields) throws(HTTP1Error.Kind) -> UInt64? {
        var length: UInt64?
        var problem: HTTP1Error.Kind?
        fields.forEachValue(of: .contentLength) { value in
            FieldList.forEachElement(value) { element in
                guard let number = decimal(element) else { return problem = .malformedContentLength }
                if let length, length != number { problem = problem ?? .conflictingContentLength }
                length = number
            }
        }
        if let problem { throw problem }
        return length
    }

    /// Digits alone, no sign, no space; nil too when beyond 64 bits.
    private static func decimal(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
        guard !bytes.isEmpty else { return nil }
        var number: UInt64 = 0
        for byte in bytes {
            guard let digit = Byte.digit(byte) else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
            guard !overflow, !carry else { return nil }
            number = sum
        }
        return number
    }
}
