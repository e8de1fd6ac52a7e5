import Foundation

/// A way to prove to an HTTP server or proxy who the client is, such as Basic or Digest (RFC 9110 §11).
///
/// A scheme is a value that answers the challenges of one protection space. It is made from a challenge, and gives the
/// value of the request's field. Between requests it keeps what the server expects the client to remember. It does no
/// I/O, and must not block, as it is used on the session's event loop; where ``authorization(for:with:)`` has to do so,
/// ``mayBlock`` says it. The session keeps copies of it, each with its own state: a scheme should be a struct.
///
/// Basic, Digest and NTLM are built in; ``URLSessionConfiguration/authenticationSchemes`` adds others, and
/// ``URLSessionConfiguration/register(authenticationScheme:_:)`` those that need settings of their own.
public protocol HTTPAuthenticationScheme: Sendable {
    /// The scheme's name in challenges, compared without regard to ASCII case.
    static var name: String { get }

    /// The ``URLProtectionSpace/authenticationMethod`` of this scheme's protection spaces.
    static var authenticationMethod: String { get }

    /// Whether the scheme authenticates a connection, rather than each request. Then all of its steps are taken on one
    /// HTTP/1.1 connection, and it is never used over HTTP/2. When the connection is lost, a new scheme is made for the
    /// next one. Default false.
    static var bindsToConnection: Bool { get }

    /// Whether ``authorization(for:with:)`` may take its time, as it reads files or asks another server. Default false.
    ///
    /// If so, the session calls that method on a thread of its own, once for each time that the request is sent, and never
    /// on a copy. The request waits for it, and nothing else does; the request's time-out runs. When the task ends before
    /// the method does, the result is dropped. There are at most 64 such threads in the process; what comes beyond them
    /// waits for one. All other methods are called on the event loop, and must not block.
    static var mayBlock: Bool { get }

    /// The credential that is proposed where neither the program's storage nor the URL has one, such as the ticket of the
    /// user who runs the program. It is neither stored nor challenged again for: where the scheme cannot use it, or the
    /// server refuses it, and the program leaves the choice to the session, the next strongest scheme has its turn.
    /// Default nil.
    static var defaultCredential: URLCredential? { get }

    /// Makes a scheme that answers a challenge of this name; nil when it cannot, for example because it does not know
    /// the challenge's algorithm.
    init?(_ challenge: HTTPAuthenticationChallenge)

    /// The realm that the challenge named, or nil.
    var realm: String? { get }

    /// How strong the scheme is. Of the schemes that a server offers, the strongest is used; of several equal ones, the
    /// first. Basic has 10, Digest 20 to 22, NTLM 30.
    var strength: Int { get }

    /// Whether the server is expected to accept the request that is sent next. While it is not, as more steps follow,
    /// requests are sent without their bodies. Default true.
    var isLastStep: Bool { get }

    /// The value of the request's `Authorization` field, or of `Proxy-Authorization` to a proxy; nil when the
    /// credential cannot be used with this scheme. Then the next strongest scheme that the server offers has its turn.
    ///
    /// The session calls it for each request that it sends. It also calls it on a copy of the scheme, to find out
    /// whether a credential can be used, unless the scheme ``mayBlock``.
    mutating func authorization(
        for request: HTTPAuthenticationRequest, with credential: URLCredential
    ) -> String?

    /// Takes the next step, after the server has answered with another challenge of this scheme and realm.
    ///
    /// - Returns: true when the request is to be sent again with the same credential: the challenge is the scheme's
    ///   next step, or only a value such as a nonce was too old. False when the server has refused the credential.
    mutating func advance(after challenge: HTTPAuthenticationChallenge) -> Bool

    /// The server has accepted the request. By default nothing is done.
    ///
    /// - Parameter parameters: those of the response's `Authentication-Info` field (RFC 9110 §11.6.3), by their names
    ///   in lower case.
    mutating func serverDidAccept(_ parameters: [String: String]) -> HTTPAuthenticationAcceptance

    /// The server has accepted the request. By default the method above gets the parameters of `Authentication-Info`, where
    /// the response has that field.
    mutating func serverDidAccept(_ response: HTTPAuthenticationResponse) -> HTTPAuthenticationAcceptance

    /// Which paths of the origin the protection space covers, as far as is known once the server has accepted a request
    /// for `path`. Later requests for paths that begin with one of these have the value of ``authorization(for:with:)``
    /// from the start, before the server sends a challenge. By default there are none.
    func paths(around path: String) -> [String]
}

extension HTTPAuthenticationScheme {
    /// False: each request is authenticated by itself.
    public static var bindsToConnection: Bool { false }

    /// False: it is computed from what the scheme and the credential hold.
    public static var mayBlock: Bool { false }

    /// None: the program is asked for one.
    public static var defaultCredential: URLCredential? { nil }

    /// True: the scheme has one step.
    public var isLastStep: Bool { true }

    /// Unchanged: the parameters are not used.
    public mutating func serverDidAccept(_ parameters: [String: String]) -> HTTPAuthenticationAcceptance { .unchanged }

    /// What the response's parameters bring.
    public mutating func serverDidAccept(_ response: HTTPAuthenticationResponse) -> HTTPAuthenticationAcceptance {
        response.parameters.map { serverDidAccept($0) } ?? .unchanged
    }

    /// None: no request has a credential before the server sends a challenge.
    public func paths(around path: String) -> [String] { [] }
}

/// What a server's `Authentication-Info` means to a scheme.
public enum HTTPAuthenticationAcceptance: Sendable {
    /// The scheme stays as it is.
    case unchanged
    /// The scheme has changed for requests to come.
    case renewed
    /// The server should have proved that it knows the secret, and did not: its response is not trusted.
    case refused
}

/// What an authentication scheme may need to know about the request that it authorizes.
public struct HTTPAuthenticationRequest: Sendable {
    /// The method.
    public let method: String

    /// The request's target as it is sent: path and query. A proxy gets the whole URL, or host and port for `CONNECT`.
    public let target: String

    /// The name or address, without a port, of the server or proxy that authenticates the client.
    public let host: String

    /// The body; nil when it is a stream, as its bytes are not known before they are sent.
    public let body: Data?

    /// Whether the client speaks TLS to that server or proxy.
    public let isSecure: Bool

    /// Whether it is a proxy that authenticates the client.
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

/// What an authentication scheme may need to know about the response to a request that the server has accepted.
public struct HTTPAuthenticationResponse: Sendable {
    /// The status code: not 401, nor 407 where it is a proxy that authenticates the client.
    public let status: Int

    /// The challenge of the scheme's name that the response has all the same, in the field for challenges or in
    /// `Authentication-Info`: with its token some servers prove who they are (RFC 4559 §5). Nil where there is none.
    public let challenge: HTTPAuthenticationChallenge?

    /// The parameters of the response's `Authentication-Info` field (RFC 9110 §11.6.3), by their names in lower case; nil
    /// where it has no such field.
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

    /// A challenge, as a server would make it. Of two names that differ only in case, one is kept.
    public init(scheme: String, token: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token = token
        self.parameters = Dictionary(parameters.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    /// The value of a parameter; nil where there is none. The name is given in lower case.
    public subscript(name: String) -> String? { parameters[name] }

    /// Whether the challenge is of this scheme.
    public func isOf(_ type: any HTTPAuthenticationScheme.Type) -> Bool {
        scheme.lowercased() == type.name.lowercased()
    }
}

/// A way to authenticate that a session has: a scheme, and what makes its values.
package struct AuthenticationSchemeMaker: Sendable {
    package let type: any HTTPAuthenticationScheme.Type
    package let make:
        @Sendable (HTTPAuthenticationChallenge, HTTPAuthenticationRequest) -> (any HTTPAuthenticationScheme)?

    /// For a scheme that needs the challenge alone.
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
