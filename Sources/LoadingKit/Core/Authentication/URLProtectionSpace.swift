import Foundation

/// The part of a server, or a proxy, that requires a credential: host, port, protocol, realm and method.
///
/// Follows Apple's `URLProtectionSpace`. Two spaces are equal when all of these are equal. Instances are immutable.
open class URLProtectionSpace: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {  // set before it is shared
    /// The values that the space was made with. Spaces are compared, hashed and stored by them, whatever a subclass returns.
    package struct Parts: Hashable {
        /// The protocol of a server, or the type of a proxy.
        package let kind: String?
        package let isOfProxy: Bool
        package let realm: String?
        package let host: String
        package let port: Int
        package let authenticationMethod: String
    }

    package let parts: Parts
    private var acceptedNames: [Data]?
    private var trust: ServerTrust?

    private var kind: String? { parts.kind }
    private var isOfProxy: Bool { parts.isOfProxy }

    /// The realm in the server's challenge, or nil.
    open var realm: String? { parts.realm }

    /// The host's name or address.
    open var host: String { parts.host }

    /// The port.
    open var port: Int { parts.port }

    /// The authentication method; ``NSURLAuthenticationMethodDefault`` unless another was given.
    open var authenticationMethod: String { parts.authenticationMethod }

    /// The names of the certificate authorities whose client certificates the server accepts (DER), or nil.
    open var distinguishedNames: [Data]? { acceptedNames }

    /// The server's certificates, about which the program decides; nil unless the method is
    /// ``NSURLAuthenticationMethodServerTrust``.
    open var serverTrust: ServerTrust? { trust }

    /// A server's protection space.
    ///
    /// - Parameters:
    ///   - host: The host's name or address.
    ///   - port: The port; 0 stands for the protocol's default.
    ///   - protocol: The protocol, for example ``NSURLProtectionSpaceHTTPS``.
    ///   - realm: The realm, which Basic and Digest use.
    ///   - authenticationMethod: The authentication method; nil is ``NSURLAuthenticationMethodDefault``.
    public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {
        parts = Parts(
            kind: `protocol`, isOfProxy: false, realm: realm, host: host, port: port,
            authenticationMethod: authenticationMethod ?? NSURLAuthenticationMethodDefault)
    }

    /// A proxy's protection space.
    ///
    /// - Parameters:
    ///   - host: The proxy's name or address.
    ///   - port: The proxy's port.
    ///   - type: The kind of proxy, for example ``NSURLProtectionSpaceHTTPSProxy``.
    ///   - realm: The realm.
    ///   - authenticationMethod: The authentication method; nil is ``NSURLAuthenticationMethodDefault``.
    public init(proxyHost host: String, port: Int, type: String?, realm: String?, authenticationMethod: String?) {
        parts = Parts(
            kind: type, isOfProxy: true, realm: realm, host: host, port: port,
            authenticationMethod: authenticationMethod ?? NSURLAuthenticationMethodDefault)
    }

    /// The space of a TLS server whose certificates the program evaluates, or, without `serverTrust`, that requests a
    /// client certificate.
    ///
    /// Not a designated initializer: a program's subclass could not override it, and would then not inherit the others.
    ///
    /// - Parameter proxyType: the proxy's type, where the server is a proxy.
    package convenience init(
        tlsHost host: String, port: Int, proxyType: String? = nil, distinguishedNames: [Data]? = nil,
        serverTrust: ServerTrust? = nil
    ) {
        let method =
            serverTrust == nil ? NSURLAuthenticationMethodClientCertificate : NSURLAuthenticationMethodServerTrust
        if let proxyType {
            self.init(proxyHost: host, port: port, type: proxyType, realm: nil, authenticationMethod: method)
        } else {
            self.init(
                host: host, port: port, protocol: NSURLProtectionSpaceHTTPS, realm: nil, authenticationMethod: method)
        }
        acceptedNames = distinguishedNames
        trust = serverTrust
    }

    /// The server's protocol, or nil for a proxy.
    open var `protocol`: String? { isOfProxy ? nil : kind }

    /// The proxy's type, or nil for a server.
    open var proxyType: String? { isOfProxy ? kind : nil }

    /// Whether the space belongs to a proxy.
    open override func isProxy() -> Bool { isOfProxy }

    /// The kind of answer that a challenge for the space asks for.
    var challengeKind: ChallengeKind {
        switch parts.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust: .serverTrust
        case NSURLAuthenticationMethodClientCertificate: .clientCertificate
        case _ where isOfProxy: .proxy
        case NSURLAuthenticationMethodHTTPBasic: .basic
        case NSURLAuthenticationMethodHTTPDigest: .digest
        case NSURLAuthenticationMethodNTLM: .ntlm
        case NSURLAuthenticationMethodNegotiate: .negotiate
        default: .other
        }
    }

    /// Whether an eavesdropper on the connection cannot read the credential: the protocol encrypts it, or the method
    /// does not send it.
    open var receivesCredentialSecurely: Bool {
        switch parts.authenticationMethod {
        case NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust:
            return true
        default:
            // The connection to a proxy for `https` URLs does not itself use TLS.
            return !isOfProxy && kind == NSURLProtectionSpaceHTTPS
        }
    }

    /// Whether the credential authenticates a connection. Other tasks will use the connection. The session's delegate
    /// therefore gets the challenge before the task's delegate, as on Apple's systems.
    package var concernsSession: Bool {
        switch parts.authenticationMethod {
        case NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            NSURLAuthenticationMethodClientCertificate, NSURLAuthenticationMethodServerTrust:
            true
        default: false
        }
    }

    // MARK: NSSecureCoding, NSCopying

    private enum CodingKey {
        static let host = "host"
        static let port = "port"
        static let realm = "realm"
        static let authenticationMethod = "authenticationMethod"
        static let protocolName = "protocol"
        static let proxyType = "proxyType"
        static let isProxy = "isProxy"
        static let distinguishedNames = "distinguishedNames"
    }

    /// True: archives may be decoded securely.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes the result of ``encode(with:)``; nil when the archive is not keyed, or lacks a required value.
    public required init?(coder aDecoder: NSCoder) {
        guard aDecoder.allowsKeyedCoding,
            let host = aDecoder.decodeString(forKey: CodingKey.host),
            let port = aDecoder.decodeNumber(forKey: CodingKey.port),
            let method = aDecoder.decodeString(forKey: CodingKey.authenticationMethod)
        else { return nil }
        let isOfProxy = aDecoder.decodeNumber(forKey: CodingKey.isProxy)?.boolValue ?? false
        parts = Parts(
            kind: aDecoder.decodeString(forKey: isOfProxy ? CodingKey.proxyType : CodingKey.protocolName),
            isOfProxy: isOfProxy, realm: aDecoder.decodeString(forKey: CodingKey.realm), host: host,
            port: port.intValue, authenticationMethod: method)
        acceptedNames = aDecoder.decodeArray(of: NSData.self, as: Data.self, forKey: CodingKey.distinguishedNames)
    }

    /// Encodes the space into a keyed archive.
    open func encode(with aCoder: NSCoder) {
        guard aCoder.allowsKeyedCoding else { return }
        aCoder.encodeString(host, forKey: CodingKey.host)
        aCoder.encode(NSNumber(value: port), forKey: CodingKey.port)
        aCoder.encodeString(realm, forKey: CodingKey.realm)
        aCoder.encodeString(authenticationMethod, forKey: CodingKey.authenticationMethod)
        aCoder.encodeString(`protocol`, forKey: CodingKey.protocolName)
        aCoder.encodeString(proxyType, forKey: CodingKey.proxyType)
        aCoder.encode(NSNumber(value: isProxy()), forKey: CodingKey.isProxy)
        if let distinguishedNames {
            let names = distinguishedNames.map { NSData(data: $0) }
            aCoder.encode(NSArray(array: names), forKey: CodingKey.distinguishedNames)
        }
    }

    /// The same as ``copy(with:)``.
    open override func copy() -> Any { copy(with: nil) }

    /// Returns the space itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether all properties are the same. ``serverTrust`` is not compared: each connection has its own.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLProtectionSpace else { return false }
        return self === other || (parts == other.parts && acceptedNames == other.acceptedNames)
    }

    /// Agrees with ``isEqual(_:)``.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(parts)
        return hasher.finalize()
    }

    /// All properties on one line, in the format of Apple's systems.
    open override var description: String {
        "<\(type(of: self)): \(ObjectIdentifier(self))>: Host:\(host), Server:\(self.protocol ?? "(null)"), "
            + "Auth-Scheme:\(authenticationMethod), Realm:\(realm ?? "(null)"), Port:\(port), "
            + "Proxy:\(isProxy() ? "YES" : "NO"), Proxy-Type:\(proxyType ?? "(null)")"
    }
}

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

// Protocols and proxies of a protection space. The values are Apple's, because programs compare with them
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
