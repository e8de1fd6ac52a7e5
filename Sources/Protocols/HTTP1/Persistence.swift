import LoadingKitPrimitives

/// Whether a connection stays open after a message (RFC 9112 §9.3).
enum Persistence {
    /// `close` ends it; HTTP/1.0 needs `keep-alive`; else HTTP/1.1 keeps it.
    static func isKept(version: HTTPVersion, fields: HTTPFields, _ occurrence: HTTPFields.Occurrence) -> Bool {
        switch occurrence {
        case .never: return version.minor >= 1
        case .once(let index):
            let isKeepAlive = fields.withBytes(at: index) { _, value, _ in
                ASCII.equalsIgnoringCase(value, "keep-alive")
            }
            if isKeepAlive { return true }
        case .often: break
        }
        return isKept(version: version, options: fields)
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
