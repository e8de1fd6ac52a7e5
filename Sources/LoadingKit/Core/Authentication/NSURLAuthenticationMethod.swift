/// The default method of a protocol; for HTTP the same as Basic.
public let NSURLAuthenticationMethodDefault: String = "NSURLAuthenticationMethodDefault"

/// HTTP Basic authentication (RFC 7617).
public let NSURLAuthenticationMethodHTTPBasic: String = "NSURLAuthenticationMethodHTTPBasic"

/// HTTP Digest authentication (RFC 7616).
public let NSURLAuthenticationMethodHTTPDigest: String = "NSURLAuthenticationMethodHTTPDigest"

/// A form on a page. No challenge of a session has this method.
public let NSURLAuthenticationMethodHTMLForm: String = "NSURLAuthenticationMethodHTMLForm"

/// Kerberos or NTLM, as negotiated (RFC 4559).
public let NSURLAuthenticationMethodNegotiate: String = "NSURLAuthenticationMethodNegotiate"

/// NTLM.
public let NSURLAuthenticationMethodNTLM: String = "NSURLAuthenticationMethodNTLM"

/// The server requests the client's certificate in the TLS handshake (RFC 8446 §4.3.2).
public let NSURLAuthenticationMethodClientCertificate: String = "NSURLAuthenticationMethodClientCertificate"

/// The program decides whether the server's certificate is trusted.
public let NSURLAuthenticationMethodServerTrust: String = "NSURLAuthenticationMethodServerTrust"
