// The keys of `URLSessionConfiguration.connectionProxyDictionary`, as Apple's CFNetwork has them.

/// Whether ``kCFNetworkProxiesHTTPProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesHTTPEnable = "HTTPEnable"
/// The proxy for `http` URLs: a name, an address, or a URL that says all of it (`https://user:password@proxy:8443`: one that
/// is spoken to over TLS).
public let kCFNetworkProxiesHTTPProxy = "HTTPProxy"
/// Its port: a number. Default 80.
public let kCFNetworkProxiesHTTPPort = "HTTPPort"
/// Whether ``kCFNetworkProxiesHTTPSProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesHTTPSEnable = "HTTPSEnable"
/// The proxy through which `https` servers are reached: a name, an address, or a URL that says all of it. A name
/// alone is spoken to in cleartext HTTP.
public let kCFNetworkProxiesHTTPSProxy = "HTTPSProxy"
/// Its port: a number. Default 80.
public let kCFNetworkProxiesHTTPSPort = "HTTPSPort"
/// Whether ``kCFNetworkProxiesSOCKSProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesSOCKSEnable = "SOCKSEnable"
/// The SOCKS proxy for all that has no proxy of its own: a name or an address. It looks up servers' names.
public let kCFNetworkProxiesSOCKSProxy = "SOCKSProxy"
/// Its port: a number. Default 1080.
public let kCFNetworkProxiesSOCKSPort = "SOCKSPort"
/// Hosts that are reached without a proxy: an array of names (`example.com`, `*.example.com`) and addresses (`10.0.0.0/8`).
public let kCFNetworkProxiesExceptionsList = "ExceptionsList"
/// Whether hosts whose names have no dot are reached without a proxy: a `Bool` or a number.
public let kCFNetworkProxiesExcludeSimpleHostnames = "ExcludeSimpleHostnames"
/// The user whom an HTTP proxy is told: a string. Told unasked by Basic, and by another scheme when the proxy asks for that.
public let kCFProxyUsernameKey = "kCFProxyUsernameKey"
/// That user's password: a string.
public let kCFProxyPasswordKey = "kCFProxyPasswordKey"
/// Which version of SOCKS is spoken: ``kCFStreamSocketSOCKSVersion4`` or ``kCFStreamSocketSOCKSVersion5``, the default.
public let kCFStreamPropertySOCKSVersion = "kCFStreamPropertySOCKSVersion"
/// SOCKS 4A.
public let kCFStreamSocketSOCKSVersion4 = "kCFStreamSocketSOCKSVersion4"
/// SOCKS 5 (RFC 1928).
public let kCFStreamSocketSOCKSVersion5 = "kCFStreamSocketSOCKSVersion5"
/// The user whom a SOCKS proxy is told: a string.
public let kCFStreamPropertySOCKSUser = "kCFStreamPropertySOCKSUser"
/// That user's password: a string.
public let kCFStreamPropertySOCKSPassword = "kCFStreamPropertySOCKSPassword"
