// The keys of `URLSessionConfiguration.connectionProxyDictionary`, which are those of Apple's CFNetwork.

/// Whether ``kCFNetworkProxiesHTTPProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesHTTPEnable = "HTTPEnable"
/// The proxy for `http` URLs: a name, an address, or a complete URL. For example, `https://user:password@proxy:8443` is
/// a proxy that is reached over TLS.
public let kCFNetworkProxiesHTTPProxy = "HTTPProxy"
/// The port of ``kCFNetworkProxiesHTTPProxy``: a number. Default 80.
public let kCFNetworkProxiesHTTPPort = "HTTPPort"
/// Whether ``kCFNetworkProxiesHTTPSProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesHTTPSEnable = "HTTPSEnable"
/// The proxy for `https` servers: a name, an address, or a complete URL. A proxy that is given by its name only is
/// reached by HTTP without TLS.
public let kCFNetworkProxiesHTTPSProxy = "HTTPSProxy"
/// The port of ``kCFNetworkProxiesHTTPSProxy``: a number. Default 80.
public let kCFNetworkProxiesHTTPSPort = "HTTPSPort"
/// Whether ``kCFNetworkProxiesSOCKSProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesSOCKSEnable = "SOCKSEnable"
/// The SOCKS proxy for all URLs that have no other proxy: a name or an address. The proxy resolves the servers' names.
public let kCFNetworkProxiesSOCKSProxy = "SOCKSProxy"
/// The port of ``kCFNetworkProxiesSOCKSProxy``: a number. Default 1080.
public let kCFNetworkProxiesSOCKSPort = "SOCKSPort"
/// Hosts that are reached without a proxy: an array of names (`example.com`, `*.example.com`) and addresses
/// (`10.0.0.0/8`).
public let kCFNetworkProxiesExceptionsList = "ExceptionsList"
/// Whether hosts whose names have no dot are reached without a proxy: a `Bool` or a number.
public let kCFNetworkProxiesExcludeSimpleHostnames = "ExcludeSimpleHostnames"
/// The user name for an HTTP proxy: a string. It is sent by Basic with the first request, before the proxy requires it,
/// and by another scheme when the proxy requires that scheme.
public let kCFProxyUsernameKey = "kCFProxyUsernameKey"
/// The password of ``kCFProxyUsernameKey``: a string.
public let kCFProxyPasswordKey = "kCFProxyPasswordKey"
/// The version of SOCKS: ``kCFStreamSocketSOCKSVersion4`` or ``kCFStreamSocketSOCKSVersion5``, the default.
public let kCFStreamPropertySOCKSVersion = "kCFStreamPropertySOCKSVersion"
/// SOCKS 4A.
public let kCFStreamSocketSOCKSVersion4 = "kCFStreamSocketSOCKSVersion4"
/// SOCKS 5 (RFC 1928).
public let kCFStreamSocketSOCKSVersion5 = "kCFStreamSocketSOCKSVersion5"
/// The user name for a SOCKS proxy: a string.
public let kCFStreamPropertySOCKSUser = "kCFStreamPropertySOCKSUser"
/// The password of ``kCFStreamPropertySOCKSUser``: a string.
public let kCFStreamPropertySOCKSPassword = "kCFStreamPropertySOCKSPassword"
/// Whether ``kCFNetworkProxiesFTPProxy`` is used: a `Bool` or a number.
public let kCFNetworkProxiesFTPEnable = "FTPEnable"
/// The HTTP proxy through whose tunnels `ftp` and `ftps` URLs are loaded, with a tunnel for each connection: a string.
public let kCFNetworkProxiesFTPProxy = "FTPProxy"
/// The port of ``kCFNetworkProxiesFTPProxy``: a number. Default 80.
public let kCFNetworkProxiesFTPPort = "FTPPort"
/// Whether a script determines the proxies: a `Bool` or a number. It requires a
/// ``URLSessionConfiguration/proxyResolver`` that runs scripts, such as the plugin LoadingKitSystemProxies. Without
/// one, the session's loads fail with an error that states this.
public let kCFNetworkProxiesProxyAutoConfigEnable = "ProxyAutoConfigEnable"
/// The script's URL: a string. Only the script determines the proxies: the dictionary's proxies are not used, but its
/// exceptions are.
public let kCFNetworkProxiesProxyAutoConfigURLString = "ProxyAutoConfigURLString"
/// The script itself: a string, which takes precedence over ``kCFNetworkProxiesProxyAutoConfigURLString``.
public let kCFNetworkProxiesProxyAutoConfigJavaScript = "ProxyAutoConfigJavaScript"
