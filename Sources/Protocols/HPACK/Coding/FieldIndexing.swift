/// Decides which fields the encoder puts into the dynamic table (RFC 7541 §6.2, §7.1).
enum FieldIndexing: Sendable {
    /// Fields that are repeated.
    case indexed
    /// Fields whose value changes between messages: indexed only when the same value occurs again.
    case whenRepeated
    /// Secret fields. Intermediaries must not index them either, so that an attacker cannot find their values by trying
    /// values and observing the size (RFC 7541 §7.1.3).
    case never

    /// A `Cookie` value with fewer bytes than this has too little entropy and could be guessed.
    private static let guessableCookieBytes = 20

    init(_ known: KnownField, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        switch known {
        case .authorization, .proxyAuthorization, .authenticationInfo, .proxyAuthenticationInfo, .setCookie:
            self = .never
        case .cookie:
            self = value.count < Self.guessableCookieBytes ? .never : .indexed
        case .other:
            self = Self.isSecret(name) ? .never : .indexed
        default:
            self = Self.changes(known) ? .whenRepeated : .indexed
        }
    }

    private static func changes(_ known: KnownField) -> Bool {
        switch known {
        case .age, .contentDigest, .contentLength, .contentRange, .etag, .expires, .ifMatch, .ifModifiedSince,
            .ifNoneMatch, .ifRange, .ifUnmodifiedSince, .lastModified, .location, .range, .uploadOffset, .xRequestID:
            true
        default:
            false
        }
    }

    /// Names in use for keys and tokens that are not registered.
    private static let secretNames: [StaticString] = [
        "api-key", "x-api-key", "x-auth-token", "x-access-token", "x-csrf-token", "x-xsrf-token", "private-token",
        "x-amz-security-token", "x-goog-api-key",
    ]

    private static func isSecret(_ name: UnsafeRawBufferPointer) -> Bool {
        secretNames.contains { ASCII.equalsIgnoringCase(name, $0) }
    }
}
