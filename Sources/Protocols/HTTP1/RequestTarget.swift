import LoadingKitPrimitives

/// The four forms of a request's target, and the methods they go with (RFC 9112 §3.2). That a target consists of
/// visible ASCII has been seen while reading.
enum RequestTarget {
    static func check(_ line: StartLine, of fields: HTTPFields) throws(HTTP1Error.Kind) {
        let hasForm = fields.withEntries { _, bytes in
            let method = UnsafeRawBufferPointer(rebasing: bytes[line.method])
            return isValid(UnsafeRawBufferPointer(rebasing: bytes[line.target]), method: method)
        }
        if !hasForm { throw .invalidTarget }
    }

    private static func isValid(_ target: UnsafeRawBufferPointer, method: UnsafeRawBufferPointer) -> Bool {
        // No form has a fragment.
        guard let first = target.first, !target.contains(UInt8(ascii: "#")) else { return false }
        if method.elementsEqual("CONNECT".utf8) { return isAuthority(target) }
        switch first {
        case UInt8(ascii: "/"): return true
        case UInt8(ascii: "*"): return target.count == 1 && method.elementsEqual("OPTIONS".utf8)
        case _: return isAbsolute(target)
        }
    }

    /// `scheme "://"` and something behind it.
    private static func isAbsolute(_ target: UnsafeRawBufferPointer) -> Bool {
        guard let colon = target.firstIndex(of: Byte.colon), colon > 0, isLetter(target[0]) else { return false }
        let isScheme = target[..<colon].allSatisfy {
            isLetter($0) || Byte.digit($0) != nil || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
        let rest = target[(colon + 1)...]
        return isScheme && rest.starts(with: "//".utf8) && rest.count > 2
    }

    /// `host ":" port`, the port in digits (RFC 9110 §9.3.6 wants both).
    private static func isAuthority(_ target: UnsafeRawBufferPointer) -> Bool {
        guard let colon = target.lastIndex(of: Byte.colon), colon > 0 else { return false }
        let port = target[(colon + 1)...]
        return (1...5).contains(port.count) && port.allSatisfy { Byte.digit($0) != nil }
            && HostField.isValid(target)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }
}
