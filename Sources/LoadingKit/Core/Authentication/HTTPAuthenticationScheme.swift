import Foundation

/// A method to authenticate the client to an HTTP server or proxy, such as Basic or Digest (RFC 9110 §11).
///
/// A scheme is a value that answers the challenges of one protection space. It is made from a challenge, and returns
/// the value of the request's `Authorization` field. Between requests it keeps the state that the server expects the
/// client to keep. It does no I/O, and must not block, because it runs on the session's event loop. A scheme whose
/// ``authorization(for:with:)`` has to block declares this with ``mayBlock``. The session keeps copies of the scheme,
/// each with its own state: a scheme should be a struct.
///
/// Basic, Digest and NTLM are built in. ``URLSessionConfiguration/authenticationSchemes`` adds others, and
/// ``URLSessionConfiguration/register(authenticationScheme:_:)`` adds schemes that need settings of their own.
public protocol HTTPAuthenticationScheme: Sendable {
    /// The scheme's name in challenges, compared without regard to ASCII case.
    static var name: String { get }

    /// The ``URLProtectionSpace/authenticationMethod`` of this scheme's protection spaces.
    static var authenticationMethod: String { get }

    /// Whether the scheme authenticates a connection, rather than each request. All steps of such a scheme are taken on
    /// one HTTP/1.1 connection, and the scheme is never used over HTTP/2. When the connection is lost, a new scheme is
    /// made for the next connection. Default false.
    static var bindsToConnection: Bool { get }

    /// Whether ``authorization(for:with:)`` may block, for example while it reads files or contacts another server.
    /// Default false.
    ///
    /// If so, the session calls that method on a separate thread, once each time that the request is sent, and never on
    /// a copy. Only this request waits for the method; the request's timeout runs. When the task ends before the method
    /// returns, the result is dropped. The process has at most 64 such threads; further calls wait for a free thread.
    /// All other methods are called on the event loop, and must not block.
    static var mayBlock: Bool { get }

    /// The credential that is proposed where neither the program's credential storage nor the URL has a credential,
    /// such as the ticket of the user who runs the program. It is not stored, and there is no further challenge for it.
    /// Where the scheme cannot use it, or the server refuses it, and the program leaves the choice to the session, the
    /// session tries the next strongest scheme. Default nil.
    static var defaultCredential: URLCredential? { get }

    /// Makes a scheme that answers a challenge with this scheme's name; nil when the scheme cannot answer it, for
    /// example because the scheme does not support the challenge's algorithm.
    init?(_ challenge: HTTPAuthenticationChallenge)

    /// The realm in the challenge, or nil.
    var realm: String? { get }

    /// The scheme's strength. Of the schemes that a server offers, the session uses the strongest; of several equally
    /// strong schemes, the first. Basic has 10, Digest 20 to 22, NTLM 30.
    var strength: Int { get }

    /// Whether the server is expected to accept the next request. While this is false, because more steps follow,
    /// requests are sent without their bodies. Default true.
    var isLastStep: Bool { get }

    /// Returns the value of the request's `Authorization` field, or of `Proxy-Authorization` for a proxy; nil when this
    /// scheme cannot use the credential. The session then tries the next strongest scheme that the server offers.
    ///
    /// The session calls this method for each request that it sends. It also calls the method on a copy of the scheme,
    /// to find out whether the scheme can use a credential, unless the scheme ``mayBlock``.
    mutating func authorization(
        for request: HTTPAuthenticationRequest, with credential: URLCredential
    ) -> String?

    /// Takes the next step after the server has answered with another challenge of this scheme and realm.
    ///
    /// - Returns: true when the request is to be sent again with the same credential: the challenge is the scheme's
    ///   next step, or only a value such as a nonce was stale. False when the server has refused the credential.
    mutating func advance(after challenge: HTTPAuthenticationChallenge) -> Bool

    /// The server has accepted the request. The default implementation does nothing.
    ///
    /// - Parameter parameters: the parameters of the response's `Authentication-Info` field (RFC 9110 §11.6.3), by
    ///   their names in lower case.
    mutating func serverDidAccept(_ parameters: [String: String]) -> HTTPAuthenticationAcceptance

    /// The server has accepted the request. The default implementation passes the parameters of `Authentication-Info`
    /// to the method above, where the response has that field.
    mutating func serverDidAccept(_ response: HTTPAuthenticationResponse) -> HTTPAuthenticationAcceptance

    /// The paths of the origin that the protection space covers, as far as they are known once the server has accepted
    /// a request for `path`. Later requests for paths that begin with one of these paths are sent with the value of
    /// ``authorization(for:with:)`` at once, before the server sends a challenge. By default there are none.
    func paths(around path: String) -> [String]
}

extension HTTPAuthenticationScheme {
    /// False: each request is authenticated separately.
    public static var bindsToConnection: Bool { false }

    /// False: the value is computed from the scheme and the credential.
    public static var mayBlock: Bool { false }

    /// None: the credential comes from the program.
    public static var defaultCredential: URLCredential? { nil }

    /// True: the scheme has one step.
    public var isLastStep: Bool { true }

    /// Unchanged: the parameters are not used.
    public mutating func serverDidAccept(_ parameters: [String: String]) -> HTTPAuthenticationAcceptance { .unchanged }

    /// Calls the method above with the response's parameters, where the response has any.
    public mutating func serverDidAccept(_ response: HTTPAuthenticationResponse) -> HTTPAuthenticationAcceptance {
        response.parameters.map { serverDidAccept($0) } ?? .unchanged
    }

    /// None: no request has a credential before the server sends a challenge.
    public func paths(around path: String) -> [String] { [] }
}

/// The effect of a server's `Authentication-Info` field on a scheme.
public enum HTTPAuthenticationAcceptance: Sendable {
    /// The scheme stays as it is.
    case unchanged
    /// The scheme's state for later requests has changed.
    case renewed
    /// The server should have proved that it knows the secret, and did not: its response is not trusted.
    case refused
}

/// The facts about a request that an authentication scheme may need to authorize it.
public struct HTTPAuthenticationRequest: Sendable {
    /// The method.
    public let method: String

    /// The request target as it is sent: path and query. For a proxy it is the whole URL, or host and port for
    /// `CONNECT`.
    public let target: String

    /// The name or address, without a port, of the server or proxy that authenticates the client.
    public let host: String

    /// The body; nil for a stream, because its bytes are not known before they are sent.
    public let body: Data?

    /// Whether the connection to the server or proxy uses TLS.
    public let isSecure: Bool

    /// Whether a proxy authenticates the client.
    public let isProxy: Bool

    /// The hash of the TLS peer's certificate, as the channel binding `tls-server-end-point` defines it (RFC 5929 §4);
    /// nil without TLS. Schemes that authenticate a connection may use it.
    public var channelBinding: Data?

    /// A request, for tests of schemes.
    public init(
        method: String, target: String, host: String, body: Data? = Data(), isSecure: Bool = false,
        isProxy: Bool = false, channelBinding: Data? = nil
    ) {
        self.method = method
        self.target = target
        self.host = host
        self.body = body
        self.isSecure = isSecure
        self.isProxy = isProxy
        self.channelBinding = channelBinding
    }
}

/// The facts about the response to an accepted request that an authentication scheme may need.
public struct HTTPAuthenticationResponse: Sendable {
    /// The status code: not 401, and not 407 where a proxy authenticates the client.
    public let status: Int

    /// The challenge with the scheme's name that an accepting response may still have, in the field for challenges or
    /// in `Authentication-Info`. Some servers authenticate themselves with its token (RFC 4559 §5). Nil where there is
    /// none.
    public let challenge: HTTPAuthenticationChallenge?

    /// The parameters of the response's `Authentication-Info` field (RFC 9110 §11.6.3), by their names in lower case;
    /// nil where the response has no such field.
    public let parameters: [String: String]?

    /// A response, for tests of schemes.
    public init(status: Int, challenge: HTTPAuthenticationChallenge? = nil, parameters: [String: String]? = nil) {
        self.status = status
        self.challenge = challenge
        self.parameters = parameters
    }
}

/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field: a scheme's name, and its token or parameters
/// (RFC 9110 §11.3).
public struct HTTPAuthenticationChallenge: Sendable, Hashable {
    /// The scheme's name, as the server wrote it.
    public let scheme: String

    /// The token that some schemes have instead of parameters (`token68`); nil where there is none.
    public let token: String?

    /// The parameters, unquoted, by their names in lower case.
    public let parameters: [String: String]

    /// The names of the parameters that were not in UTF-8. Each character of their values stands for an octet, as in
    /// ISO-8859-1.
    package var parametersInLatin1: Set<String> = []

    /// A challenge, as a server would make it. Of two parameters whose names differ only in case, one is kept.
    public init(scheme: String, token: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token = token
        self.parameters = Dictionary(parameters.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    /// The value of a parameter; nil where there is none. `name` is in lower case.
    public subscript(name: String) -> String? { parameters[name] }

    /// Whether the challenge is of this scheme.
    public func isOf(_ type: any HTTPAuthenticationScheme.Type) -> Bool {
        scheme.lowercased() == type.name.lowercased()
    }
}

/// An authentication scheme that a session supports, with the function that makes its values.
package struct AuthenticationSchemeMaker: Sendable {
    package let type: any HTTPAuthenticationScheme.Type
    package let make:
        @Sendable (HTTPAuthenticationChallenge, HTTPAuthenticationRequest) -> (any HTTPAuthenticationScheme)?

    /// For a scheme that needs only the challenge.
    package init(_ type: any HTTPAuthenticationScheme.Type) {
        self.type = type
        make = { challenge, _ in type.init(challenge) }
    }

    package init<Scheme: HTTPAuthenticationScheme>(
        _ type: Scheme.Type,
        _ make: @escaping @Sendable (HTTPAuthenticationChallenge, HTTPAuthenticationRequest) -> Scheme?
    ) {
        self.type = type
        self.make = { make($0, $1) }
    }
}
