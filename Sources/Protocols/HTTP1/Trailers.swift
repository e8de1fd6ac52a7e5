import LoadingKitPrimitives

/// Which fields may come after the body.
enum Trailers {
    /// The fields without those that would change the framing, the routing or the format of what has already been
    /// read; such a field in a trailer section is an accident or an attack (RFC 9110 §6.5.1).
    static func allowed(in fields: HTTPFields) -> HTTPFields {
        var fields = fields
        for known in forbidden where fields.contains(known) { fields.remove(known) }
        return fields
    }

    static let forbidden: [KnownField] = [
        .contentLength, .transferEncoding, .trailer, .host, .connection, .keepAlive, .proxyConnection, .upgrade, .te,
        .contentEncoding, .contentType, .contentRange,
    ]
}
