import LoadingKitPrimitives

/// Whether a connection stays open after a message (RFC 9112 §9.3).
enum Persistence {
    /// `close` ends it; HTTP/1.0 needs `keep-alive`; else HTTP/1.1 keeps it.
    @inline(__always)
    static func isKept(
        version: HTTPVersion, fields: HTTPFields, _ connection: HTTPFields.Framing.Connection
    ) -> Bool {
        switch connection {
        case .absent: version.minor >= 1
        case .keepAlive: true
        case .unclear: isKept(version: version, options: fields)
        }
    }

    private static func isKept(version: HTTPVersion, options fields: HTTPFields) -> Bool {
        var close = false
        var keepAlive = false
        FieldList.forEach(.connection, in: fields) { option in
            if ASCII.equalsIgnoringCase(option, "close") { close = true }
            if ASCII.equalsIgnoringCase(option, "keep-alive") { keepAlive = true }
        }
        return !close && (version.minor >= 1 || keepAlive)
    }
}
