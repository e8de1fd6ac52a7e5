extension KnownField {
    /// The well-known name that `name` spells in any letter case, or ``other``.
    public init(name: String) {
        var name = name
        self = name.withUTF8 { KnownField(nameBytes: UnsafeRawBufferPointer($0)) }
    }

    /// The well-known name that these bytes spell in any ASCII letter case, or ``other``.
    ///
    /// The length and one byte leave a single candidate, which is then compared whole.
    public init(nameBytes bytes: UnsafeRawBufferPointer) {
        let candidate = KnownField.candidate(for: bytes)
        self = ASCII.equalsName(bytes, candidate.nameBytes) ? candidate : .other
    }

    /// The fields that describe an HTTP/1.1 connection, which HTTP/2 has no place for (RFC 9113 §8.2.2). `TE` is another,
    /// unless it says `trailers`.
    package static let connectionSpecific = allCases.filter(\.isConnectionSpecific)

    /// Whether it is one of ``connectionSpecific``.
    package var isConnectionSpecific: Bool {
        self == .connection || self == .keepAlive || self == .proxyConnection || self == .transferEncoding
            || self == .upgrade
    }

    /// The only well-known name that has this length and these bytes at the places looked at.
    private static func candidate(for name: UnsafeRawBufferPointer) -> KnownField {
        // Bit 5 makes ASCII letters lower-case; what it does to other bytes is harmless, as the name is compared whole.
        func byte(_ index: Int) -> UInt8 { name[index] | 0x20 }
        switch name.count {
        case 2: return .te
        case 3:
            switch byte(0) {
            case UInt8(ascii: "a"): return .age
            case UInt8(ascii: "v"): return .via
            default: return .other
            }
        case 4:
            switch byte(0) {
            case UInt8(ascii: "d"): return .date
            case UInt8(ascii: "e"): return .etag
            case UInt8(ascii: "f"): return .from
            case UInt8(ascii: "h"): return .host
            case UInt8(ascii: "l"): return .link
            case UInt8(ascii: "v"): return .vary
            default: return .other
            }
        case 5:
            switch byte(0) {
            case UInt8(ascii: "a"): return .allow
            case UInt8(ascii: "r"): return .range
            default: return .other
            }
        case 6:
            switch byte(0) {
            case UInt8(ascii: "a"): return .accept
            case UInt8(ascii: "c"): return .cookie
            case UInt8(ascii: "e"): return .expect
            case UInt8(ascii: "o"): return .origin
            case UInt8(ascii: "p"): return .pragma
            case UInt8(ascii: "s"): return .server
            default: return .other
            }
        case 7:
            switch byte(0) {
            case UInt8(ascii: "a"): return .altSvc
            case UInt8(ascii: "e"): return .expires
            case UInt8(ascii: "r"):
                switch byte(3) {
                case UInt8(ascii: "e"): return .referer
                case UInt8(ascii: "r"): return .refresh
                default: return .other
                }
            case UInt8(ascii: "t"): return .trailer
            case UInt8(ascii: "u"): return .upgrade
            case UInt8(ascii: "w"): return .warning
            case UInt8(ascii: "x"): return .xCache
            default: return .other
            }
        case 8:
            switch byte(3) {
            case UInt8(ascii: "a"): return .location
            case UInt8(ascii: "m"): return .ifMatch
            case UInt8(ascii: "o"): return .priority
            case UInt8(ascii: "r"): return .ifRange
            default: return .other
            }
        case 9: return .forwarded
        case 10:
            switch byte(0) {
            case UInt8(ascii: "c"): return .connection
            case UInt8(ascii: "e"): return .earlyData
            case UInt8(ascii: "k"): return .keepAlive
            case UInt8(ascii: "s"): return .setCookie
            case UInt8(ascii: "u"): return .userAgent
            default: return .other
            }
        case 11: return .retryAfter
        case 12:
            switch byte(2) {
            case UInt8(ascii: "c"): return .cacheStatus
            case UInt8(ascii: "n"): return .contentType
            case UInt8(ascii: "p"): return .xPoweredBy
            case UInt8(ascii: "r"): return .xRequestID
            case UInt8(ascii: "x"): return .maxForwards
            default: return .other
            }
        case 13:
            switch byte(12) {
            case UInt8(ascii: "d"):
                switch byte(5) {
                case UInt8(ascii: "e"): return .lastEventID
                case UInt8(ascii: "m"): return .lastModified
                default: return .other
                }
            case UInt8(ascii: "e"): return .contentRange
            case UInt8(ascii: "g"): return .serverTiming
            case UInt8(ascii: "h"): return .ifNoneMatch
            case UInt8(ascii: "l"): return .cacheControl
            case UInt8(ascii: "n"): return .authorization
            case UInt8(ascii: "s"): return .acceptRanges
            case UInt8(ascii: "t"): return .uploadOffset
            default: return .other
            }
        case 14:
            switch byte(10) {
            case UInt8(ascii: "d"): return .secFetchDest
            case UInt8(ascii: "g"): return .contentDigest
            case UInt8(ascii: "i"): return .http2Settings
            case UInt8(ascii: "m"): return .secFetchMode
            case UInt8(ascii: "n"): return .contentLength
            case UInt8(ascii: "r"): return .acceptCharset
            case UInt8(ascii: "s"): return .secFetchSite
            default: return .other
            }
        case 15:
            switch byte(5) {
            case UInt8(ascii: "d"): return .uploadComplete
            case UInt8(ascii: "m"): return .xFrameOptions
            case UInt8(ascii: "r"): return .referrerPolicy
            case UInt8(ascii: "t"):
                switch byte(7) {
                case UInt8(ascii: "e"): return .acceptEncoding
                case UInt8(ascii: "l"): return .acceptLanguage
                default: return .other
                }
            case UInt8(ascii: "w"): return .xForwardedFor
            default: return .other
            }
        case 16:
            switch byte(11) {
            case UInt8(ascii: "-"): return .xForwardedHost
            case UInt8(ascii: "a"): return .contentLocation
            case UInt8(ascii: "c"):
                switch byte(0) {
                case UInt8(ascii: "p"): return .proxyConnection
                case UInt8(ascii: "x"): return .xXSSProtection
                default: return .other
                }
            case UInt8(ascii: "g"): return .contentLanguage
            case UInt8(ascii: "i"): return .wwwAuthenticate
            case UInt8(ascii: "o"): return .contentEncoding
            default: return .other
            }
        case 17:
            switch byte(0) {
            case UInt8(ascii: "i"): return .ifModifiedSince
            case UInt8(ascii: "s"): return .secWebSocketKey
            case UInt8(ascii: "t"): return .transferEncoding
            case UInt8(ascii: "x"): return .xForwardedProto
            default: return .other
            }
        case 18:
            switch byte(1) {
            case UInt8(ascii: "e"): return .permissionsPolicy
            case UInt8(ascii: "r"): return .proxyAuthenticate
            default: return .other
            }
        case 19:
            switch byte(0) {
            case UInt8(ascii: "a"): return .authenticationInfo
            case UInt8(ascii: "c"): return .contentDisposition
            case UInt8(ascii: "i"): return .ifUnmodifiedSince
            case UInt8(ascii: "p"): return .proxyAuthorization
            case UInt8(ascii: "t"): return .timingAllowOrigin
            default: return .other
            }
        case 20: return .secWebSocketAccept
        case 21: return .secWebSocketVersion
        case 22:
            switch byte(0) {
            case UInt8(ascii: "a"): return .accessControlMaxAge
            case UInt8(ascii: "s"): return .secWebSocketProtocol
            case UInt8(ascii: "x"): return .xContentTypeOptions
            default: return .other
            }
        case 23: return .contentSecurityPolicy
        case 24: return .secWebSocketExtensions
        case 25:
            switch byte(0) {
            case UInt8(ascii: "p"): return .proxyAuthenticationInfo
            case UInt8(ascii: "s"): return .strictTransportSecurity
            case UInt8(ascii: "u"): return .upgradeInsecureRequests
            default: return .other
            }
        case 27: return .accessControlAllowOrigin
        case 28:
            switch byte(21) {
            case UInt8(ascii: "h"): return .accessControlAllowHeaders
            case UInt8(ascii: "m"): return .accessControlAllowMethods
            default: return .other
            }
        case 29:
            switch byte(15) {
            case UInt8(ascii: "e"): return .accessControlExposeHeaders
            case UInt8(ascii: "r"): return .accessControlRequestMethod
            default: return .other
            }
        case 30: return .accessControlRequestHeaders
        case 32: return .accessControlAllowCredentials
        default: return .other
        }
    }
}
