/// A well-known field name as a small integer, so that the names that the protocol itself uses are compared as numbers.
/// The names are those of RFC 9110, and registered names that common clients and servers send.
public enum KnownField: UInt8, Sendable, CaseIterable {
    /// Any name that is not well known.
    case other = 0
    case accept, acceptCharset, acceptEncoding, acceptLanguage, acceptRanges, accessControlAllowCredentials
    case accessControlAllowHeaders, accessControlAllowMethods, accessControlAllowOrigin, accessControlExposeHeaders
    case accessControlMaxAge, accessControlRequestHeaders, accessControlRequestMethod, age, allow, altSvc
    case authenticationInfo, authorization, cacheControl, cacheStatus, connection, contentDigest, contentDisposition
    case contentEncoding, contentLanguage, contentLength, contentLocation, contentRange, contentSecurityPolicy
    case contentType, cookie, date, earlyData, etag, expect, expires, forwarded, from, host, http2Settings, ifMatch
    case ifModifiedSince, ifNoneMatch, ifRange, ifUnmodifiedSince, keepAlive, lastEventID, lastModified, link
    case location, maxForwards, origin, permissionsPolicy, pragma, priority, proxyAuthenticate
    case proxyAuthenticationInfo, proxyAuthorization, proxyConnection, range, referer, referrerPolicy, refresh
    case retryAfter, secFetchDest, secFetchMode, secFetchSite, secWebSocketAccept, secWebSocketExtensions
    case secWebSocketKey, secWebSocketProtocol, secWebSocketVersion, server, serverTiming, setCookie
    case strictTransportSecurity, te, timingAllowOrigin, trailer, transferEncoding, upgrade, upgradeInsecureRequests
    case uploadComplete, uploadOffset, userAgent, vary, via, warning, wwwAuthenticate, xCache, xContentTypeOptions
    case xForwardedFor, xForwardedHost, xForwardedProto, xFrameOptions, xPoweredBy, xRequestID, xXSSProtection
}

extension KnownField {
    /// The name as its specification spells it, for example `Content-Length`; empty for ``other``.
    public var name: String { Self.names[Int(rawValue)] }

    /// Made once, so that reading a name needs no allocation.
    private static let names: [String] = spellings.map(\.description)

    /// The bytes of the name, in memory that is valid for the life of the program.
    package var nameBytes: UnsafeRawBufferPointer { Self.spellings[Int(rawValue)].bytes }

    /// The names in the order of the cases.
    private static let spellings: [StaticString] = [
        "", "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Ranges",
        "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
        "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
        "Access-Control-Request-Headers", "Access-Control-Request-Method", "Age", "Allow", "Alt-Svc",
        "Authentication-Info", "Authorization", "Cache-Control", "Cache-Status", "Connection", "Content-Digest",
        "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location",
        "Content-Range", "Content-Security-Policy", "Content-Type", "Cookie", "Date", "Early-Data", "ETag", "Expect",
        "Expires", "Forwarded", "From", "Host", "HTTP2-Settings", "If-Match", "If-Modified-Since", "If-None-Match",
        "If-Range", "If-Unmodified-Since", "Keep-Alive", "Last-Event-ID", "Last-Modified", "Link", "Location",
        "Max-Forwards", "Origin", "Permissions-Policy", "Pragma", "Priority", "Proxy-Authenticate",
        "Proxy-Authentication-Info", "Proxy-Authorization", "Proxy-Connection", "Range", "Referer", "Referrer-Policy",
        "Refresh", "Retry-After", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-WebSocket-Accept",
        "Sec-WebSocket-Extensions", "Sec-WebSocket-Key", "Sec-WebSocket-Protocol", "Sec-WebSocket-Version", "Server",
        "Server-Timing", "Set-Cookie", "Strict-Transport-Security", "TE", "Timing-Allow-Origin", "Trailer",
        "Transfer-Encoding", "Upgrade", "Upgrade-Insecure-Requests", "Upload-Complete", "Upload-Offset", "User-Agent",
        "Vary", "Via", "Warning", "WWW-Authenticate", "X-Cache", "X-Content-Type-Options", "X-Forwarded-For",
        "X-Forwarded-Host", "X-Forwarded-Proto", "X-Frame-Options", "X-Powered-By", "X-Request-ID", "X-XSS-Protection",
    ]
}
