/// Which fields the encoder puts into the dynamic table (RFC 7541 §6.2, §7.1).
enum FieldIndexing: Sendable {
    /// Those that come again.
    case indexed
    /// Those whose value changes from message to message: only when the same one is seen again.
    case whenRepeated
    /// Those that are secret: no one on the way may put them into a table either, so that no one can find them out by
    /// trying values and looking at the size (RFC 7541 §7.1.3).
    case never

    /// A value of `Cookie` shorter than this has so little entropy that it could be guessed.
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

    /// Names in use for keys and tokens that are registered nowhere.
    private static let secretNames: [StaticString] = [
        "api-key", "x-api-key", "x-auth-token", "x-access-token", "x-csrf-token", "x-xsrf-token", "private-token",
        "x-amz-security-token", "x-goog-api-key",
    ]

    private static func isSecret(_ name: UnsafeRawBufferPointer) -> Bool {
        secretNames.contains { ASCII.equalsIgnoringCase(name, $0) }
    }
}
