// The keys of `URLSessionConfiguration.connectionProxyDictionary`, as Apple's CFNetwork has them.

/// Whether ``kCFNetworkProxiesHTTPProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesHTTPEnable = "HTTPEnable"
/// The proxy for `http` URLs: a name, an address, or a URL with all that is needed. For example,
/// `https://user:password@proxy:8443` is a proxy that is reached over TLS.
public let kCFNetworkProxiesHTTPProxy = "HTTPProxy"
/// Its port: a number. Default 80.
public let kCFNetworkProxiesHTTPPort = "HTTPPort"
/// Whether ``kCFNetworkProxiesHTTPSProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesHTTPSEnable = "HTTPSEnable"
/// The proxy through which `https` servers are reached: a name, an address, or a URL with all that is needed. A proxy
/// that is given by its name alone is reached by HTTP without TLS.
public let kCFNetworkProxiesHTTPSProxy = "HTTPSProxy"
/// Its port: a number. Default 80.
public let kCFNetworkProxiesHTTPSPort = "HTTPSPort"
/// Whether ``kCFNetworkProxiesSOCKSProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesSOCKSEnable = "SOCKSEnable"
/// The SOCKS proxy for all URLs that have no other proxy: a name or an address. The proxy looks up the servers' names.
public let kCFNetworkProxiesSOCKSProxy = "SOCKSProxy"
/// Its port: a number. Default 1080.
public let kCFNetworkProxiesSOCKSPort = "SOCKSPort"
/// Hosts that are reached without a proxy: an array of names (`example.com`, `*.example.com`) and addresses (`10.0.0.0/8`).
public let kCFNetworkProxiesExceptionsList = "ExceptionsList"
/// Whether hosts whose names have no dot are reached without a proxy: a `Bool` or a number.
public let kCFNetworkProxiesExcludeSimpleHostnames = "ExcludeSimpleHostnames"
/// The user name for an HTTP proxy: a string. It is sent by Basic with the first request, before the proxy requires it,
/// and by another scheme when the proxy requires that.
public let kCFProxyUsernameKey = "kCFProxyUsernameKey"
/// That user's password: a string.
public let kCFProxyPasswordKey = "kCFProxyPasswordKey"
/// Which version of SOCKS is used: ``kCFStreamSocketSOCKSVersion4`` or ``kCFStreamSocketSOCKSVersion5``, the default.
public let kCFStreamPropertySOCKSVersion = "kCFStreamPropertySOCKSVersion"
/// SOCKS 4A.
public let kCFStreamSocketSOCKSVersion4 = "kCFStreamSocketSOCKSVersion4"
/// SOCKS 5 (RFC 1928).
public let kCFStreamSocketSOCKSVersion5 = "kCFStreamSocketSOCKSVersion5"
/// The user name for a SOCKS proxy: a string.
public let kCFStreamPropertySOCKSUser = "kCFStreamPropertySOCKSUser"
/// That user's password: a string.
public let kCFStreamPropertySOCKSPassword = "kCFStreamPropertySOCKSPassword"
/// Whether ``kCFNetworkProxiesFTPProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesFTPEnable = "FTPEnable"
/// The HTTP proxy through whose tunnels `ftp` and `ftps` URLs are loaded, each connection in one of its own: a string.
public let kCFNetworkProxiesFTPProxy = "FTPProxy"
/// That proxy's port: a number; 80 by default.
public let kCFNetworkProxiesFTPPort = "FTPPort"
/// Whether a script finds the proxies: a `Bool` or a number. It needs a ``URLSessionConfiguration/proxyResolver`` that runs
/// scripts, such as the plugin LoadingKitSystemProxies: without one the session's loads fail, with an error that says so.
public let kCFNetworkProxiesProxyAutoConfigEnable = "ProxyAutoConfigEnable"
/// The script's URL: a string. The script decides alone; the proxies that the dictionary names are not used, but for its
/// exceptions.
public let kCFNetworkProxiesProxyAutoConfigURLString = "ProxyAutoConfigURLString"
/// The script itself: a string, which is used before ``kCFNetworkProxiesProxyAutoConfigURLString``.
public let kCFNetworkProxiesProxyAutoConfigJavaScript = "ProxyAutoConfigJavaScript"
