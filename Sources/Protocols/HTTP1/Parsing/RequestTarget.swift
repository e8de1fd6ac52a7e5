import LoadingKitPrimitives

/// The four forms of a request's target, and their methods (RFC 9112 §3.2). Reading has already checked that a target
/// consists of visible ASCII.
enum RequestTarget {
    static func check(_ line: StartLine, of fields: HTTPFields) throws(HTTP1Error.Kind) {
        let hasForm = fields.withEntries { _, bytes in
            let method = UnsafeRawBufferPointer(rebasing: bytes[line.method])
            return isValid(UnsafeRawBufferPointer(rebasing: bytes[line.target]), method: method)
        }
        if !hasForm { throw .invalidTarget }
    }

    private static func isValid(_ target: UnsafeRawBufferPointer, method: UnsafeRawBufferPointer) -> Bool {
        // No form allows a fragment.
        guard let first = target.first, !target.contains(UInt8(ascii: "#")) else { return false }
        if method.elementsEqual("CONNECT".utf8) { return isAuthority(target) }
        switch first {
        case UInt8(ascii: "/"): return true
        case UInt8(ascii: "*"): return target.count == 1 && method.elementsEqual("OPTIONS".utf8)
        case _: return isAbsolute(target)
        }
    }

    /// `scheme "://"`, followed by at least one byte.
    private static func isAbsolute(_ target: UnsafeRawBufferPointer) -> Bool {
        guard let colon = target.firstIndex(of: ASCII.colon), colon > 0, ASCII.isLetter(target[0]) else { return false }
        let isScheme = target[..<colon].allSatisfy {
            ASCII.isLetter($0) || ASCII.digit($0) != nil || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
        let rest = target[(colon + 1)...]
        return isScheme && rest.starts(with: "//".utf8) && rest.count > 2
    }

    /// `host ":" port`, with the port in digits (RFC 9110 §9.3.6 requires both).
    private static func isAuthority(_ target: UnsafeRawBufferPointer) -> Bool {
        guard let colon = target.lastIndex(of: ASCII.colon), colon > 0 else { return false }
        let port = target[(colon + 1)...]
        return (1...5).contains(port.count) && port.allSatisfy { ASCII.digit($0) != nil }
            && HostField.isValid(target)
    }

}

/// The `Host` field (RFC 9112 §3.2, RFC 9110 §7.2).
enum HostField {
    /// HTTP/1.1 requires exactly one `Host` field; HTTP/1.0 allows one.
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

    /// Whether the bytes are `uri-host [ ":" port ]`. An empty value is allowed, for targets without an authority.
    ///
    /// Names are not checked further, but parts that could make recipients use different hosts (user information, a
    /// path, a space) are refused.
    static func isValid(_ value: UnsafeRawBufferPointer) -> Bool {
        value.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            case _: allowedPunctuation.bytes.contains(byte)
            }
        }
    }

    /// RFC 3986: the unreserved, percent-encoded and sub-delims characters, and those of IP literals and ports.
    private static let allowedPunctuation: StaticString = "-._~%!$&'()*+,;=:[]"
}
