import LoadingKitPrimitives

/// The `Host` field (RFC 9112 §3.2, RFC 9110 §7.2).
enum HostField {
    /// HTTP/1.1 needs exactly one; HTTP/1.0 may have one.
    static func check(_ fields: HTTPFields, version: HTTPVersion) throws(HTTP1Error.Kind) {
        var count = 0
        var isValid = true
        fields.forEachValue(of: .host) { value in
            count += 1
            isValid = isValid && Self.isValid(value)
        }
        let isCountRight = count == 1 || (count == 0 && version.minor == 0)
        if !isCountRight || !isValid { throw .invalidHost }
    }

    /// Whether the bytes are those of `uri-host [ ":" port ]`; empty is allowed, for targets without an authority.
    ///
    /// Names are not looked at more closely, but what could make one recipient see another host than the next one
    /// does (user information, a path, a space) is refused.
    static func isValid(_ value: UnsafeRawBufferPointer) -> Bool {
        value.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            case _: allowedPunctuation.utf8Bytes.contains(byte)
            }
        }
    }

    /// RFC 3986: unreserved, percent-encoded, sub-delims, and what IP literals and ports add.
    private static let allowedPunctuation: StaticString = "-._~%!$&'()*+,;=:[]"
}

extension StaticString {
    /// The bytes of a literal.
    var utf8Bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}
