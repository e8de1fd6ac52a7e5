// Protocols and proxies of a protection space. The values are Apple's, which are what programs compare with
// (`space.protocol == "https"`).

/// The protocol HTTP without TLS.
public let NSURLProtectionSpaceHTTP: String = "http"

/// The protocol HTTP over TLS.
public let NSURLProtectionSpaceHTTPS: String = "https"

/// The protocol FTP.
public let NSURLProtectionSpaceFTP: String = "ftp"

/// A proxy for `http` URLs.
public let NSURLProtectionSpaceHTTPProxy: String = "http"

/// A proxy for `https` URLs.
public let NSURLProtectionSpaceHTTPSProxy: String = "https"

/// A proxy for `ftp` URLs.
public let NSURLProtectionSpaceFTPProxy: String = "ftp"

/// A SOCKS proxy.
public let NSURLProtectionSpaceSOCKSProxy: String = "SOCKS"
