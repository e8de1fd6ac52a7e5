/// A way to prove to an HTTP server or proxy who the client is, such as Basic or Digest (RFC 9110 §11).
///
/// A scheme is a value that answers the challenges of one protection space. It is made from a challenge, gives what to
/// put into the request, and keeps between requests what the server expects it to remember. It does no I/O, and is used
/// on the session's event loop, so it must not block. Be a struct: the session keeps copies, each with its own state.
///
/// Basic, Digest and NTLM are built in; ``URLSessionConfiguration/authenticationSchemes`` adds others.
public protocol HTTPAuthenticationScheme: Sendable {
    /// The name that servers call it by, compared without regard to ASCII case.
    static var name: String { get }

    /// What protection spaces of this scheme have as ``URLProtectionSpace/authenticationMethod``.
    static var authenticationMethod: String { get }

    /// Whether it proves who is at the end of a connection, not who sent a request. Its steps are then taken on one
    /// HTTP/1.1 connection, with a scheme that is made anew when that is lost; it is never used over HTTP/2. Default
    /// false.
    static var bindsToConnection: Bool { get }

    /// The answer to a challenge of this name; nil when it cannot be answered, for example for want of an algorithm.
    init?(_ challenge: HTTPAuthenticationChallenge)

    /// The realm that the challenge named, or nil.
    var realm: String? { get }

    /// Of the schemes that a server offers the one with the highest strength is used; among equals the first. Basic has
    /// 10, Digest 20 to 22, NTLM 30.
    var strength: Int { get }

    /// Whether the server is expected to let the request pass now. While it is not, requests are sent without their
    /// bodies. Default true.
    var isLastStep: Bool { get }

    /// The value of the request's `Authorization` field, or of `Proxy-Authorization` to a proxy; nil when the credential cannot be used with this scheme.
    ///
    /// It is asked for each time that a request is sent, and at times to see whether it can be: on a copy.
    mutating func authorization(
        for request: HTTPAuthenticationRequest, with credential: URLCredential
    ) -> String?

    /// The server has answered with another challenge of this scheme and realm. True when that is the next step (or
    /// what was sent was only too old), so that the same credential goes on being used; false when it was refused.
    mutating func goesOn(after challenge: HTTPAuthenticationChallenge) -> Bool

    /// The server has let the request pass, and has added what the parameters of its `Authentication-Info` field say
    /// (RFC 9110 §11.6.3), whose names are in lower case. By default they are not looked at.
    mutating func accepted(_ parameters: [String: String]) -> HTTPAuthenticationAcceptance

    /// Which paths of the origin the protection space covers, as far as is known once a request for `path` was let pass.
    /// Requests for paths that begin so are sent with what ``authorization(for:with:)`` gives, unasked. By default none
    /// are.
    func paths(around path: String) -> [String]
}

extension HTTPAuthenticationScheme {
    /// False: requests are authenticated, each for itself.
    public static var bindsToConnection: Bool { false }

    /// True: there is one step.
    public var isLastStep: Bool { true }

    /// Nothing is looked at.
    public mutating func accepted(_ parameters: [String: String]) -> HTTPAuthenticationAcceptance { .unchanged }

    /// None: nothing is sent unasked.
    public func paths(around path: String) -> [String] { [] }
}

/// What a server's `Authentication-Info` means to a scheme.
public enum HTTPAuthenticationAcceptance: Sendable {
    /// Nothing more.
    case unchanged
    /// The scheme has changed for requests to come.
    case renewed
    /// The server was to prove that it knows the secret, and did not: its response is not to be trusted.
    case refused
}
