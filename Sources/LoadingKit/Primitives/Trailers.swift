/// The fields that are allowed after the body (RFC 9110 §6.5.1).
package enum Trailers {
    /// The fields without those that must be known before the body: such a field in a trailer section is an error or an
    /// attack.
    package static func allowed(in fields: HTTPFields) -> HTTPFields {
        var fields = fields
        for known in forbidden where fields.contains(known) { fields.remove(known) }
        return fields
    }

    package static let forbidden: [KnownField] =
        framing + routing + format + authentication + requestModifiers + control

    private static let framing: [KnownField] = [
        .contentLength, .transferEncoding, .trailer, .connection, .keepAlive, .proxyConnection, .upgrade, .te,
    ]
    private static let routing: [KnownField] = [.host]
    private static let format: [KnownField] = [.contentEncoding, .contentType, .contentRange]
    /// `Authentication-Info` is not among them: it is allowed after the body (RFC 9110 §11.6.3).
    private static let authentication: [KnownField] = [
        .authorization, .proxyAuthorization, .wwwAuthenticate, .proxyAuthenticate, .cookie, .setCookie,
    ]
    private static let requestModifiers: [KnownField] = [
        .cacheControl, .expect, .maxForwards, .pragma, .range, .ifMatch, .ifNoneMatch, .ifModifiedSince,
        .ifUnmodifiedSince, .ifRange,
    ]
    private static let control: [KnownField] = [
        .age, .date, .expires, .location, .retryAfter, .vary, .warning, .strictTransportSecurity,
    ]
}
