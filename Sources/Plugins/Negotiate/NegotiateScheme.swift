import Foundation
import LoadingKit

/// `Negotiate` (RFC 4559): tokens of a security context, which authenticates the connection for one user.
///
///     initial ── a token ──▶ sent ── the server's token ──▶ received ── a token ──▶ sent
///
/// A token that is requested before the server has answered the last one starts a new context.
struct NegotiateScheme: HTTPAuthenticationScheme {
    static let name = "Negotiate"
    static let authenticationMethod = NSURLAuthenticationMethodNegotiate
    /// A context with several steps belongs to the connection, and many servers authenticate the whole connection with
    /// it.
    static let bindsToConnection = true
    /// The Kerberos library reads files, and contacts the KDC.
    static let mayBlock = true
    /// The ticket of the user who runs the program.
    static var defaultCredential: URLCredential? { URLCredential(user: "", password: "", persistence: .forSession) }

    /// Tokens of Windows have at most 48,000 bytes.
    private static let maximumTokenSize = 128 * 1024

    private enum State {
        case initial
        case sent(SecurityContext)
        case received(SecurityContext, [UInt8])
    }

    private let settings: Negotiate
    private let credentials: CredentialCache
    private var state = State.initial
    private var isProxy = false

    init(_ settings: Negotiate, _ credentials: CredentialCache) {
        self.settings = settings
        self.credentials = credentials
    }

    /// Not used, because the settings are missing.
    init?(_ challenge: HTTPAuthenticationChallenge) { nil }

    /// Tokens have no HTTP realm.
    var realm: String? { nil }

    var strength: Int { 40 }

    /// With Kerberos the server accepts the first token; with NTLM within SPNEGO it does not.
    var isLastStep: Bool {
        if case .sent(let context) = state { !context.needsFurtherSteps } else { true }
    }

    mutating func authorization(
        for request: HTTPAuthenticationRequest, with credential: URLCredential
    ) -> String? {
        isProxy = request.isProxy
        do throws(GSSError) {
            let context: SecurityContext
            var input: [UInt8]?
            switch state {
            case .initial, .sent: context = try makeContext(request, credential)
            case .received(let known, let token): (context, input) = (known, token)
            }
            let token = try context.step(input)
            guard !token.isEmpty else {
                throw GSSError("the server requires a further token, and the mechanism has none")
            }
            state = .sent(context)
            return "Negotiate " + Data(token).base64EncodedString()
        } catch {
            state = .initial
            settings.failureHandler?(NegotiateFailure(host: request.host, reason: error.text))
            return nil
        }
    }

    private func makeContext(
        _ request: HTTPAuthenticationRequest, _ credential: URLCredential
    ) throws(GSSError) -> SecurityContext {
        SecurityContext(
            try GSSName(service: "HTTP", host: request.host, settings.serviceName),
            try credentials.find(credential, mayBeOther: settings.trustsWithNTLM(request)),
            delegates: settings.delegates(to: request),
            channelBinding: settings.bindsToTLS ? request.channelBinding : nil)
    }

    mutating func advance(after challenge: HTTPAuthenticationChallenge) -> Bool {
        guard case .sent(let context) = state, let token = Self.token(of: challenge) else { return false }
        state = .received(context, token)
        return true
    }

    mutating func serverDidAccept(_ response: HTTPAuthenticationResponse) -> HTTPAuthenticationAcceptance {
        guard case .sent(let context) = state else { return .unchanged }
        state = .initial
        if context.isComplete { return .unchanged }
        guard let challenge = response.challenge, challenge.token != nil else {
            let isRequired = settings.requiresMutualAuthentication && !isProxy && 200..<400 ~= response.status
            return isRequired ? .refused : .unchanged
        }
        guard let token = Self.token(of: challenge), (try? context.step(token)) != nil, context.isMutual else {
            return .refused
        }
        return .unchanged
    }

    /// The whole server: where it authenticates each request separately, no request is sent twice.
    func paths(around path: String) -> [String] { ["/"] }

    private static func token(of challenge: HTTPAuthenticationChallenge) -> [UInt8]? {
        guard let text = challenge.token, text.utf8.count <= maximumTokenSize, let bytes = Data(base64Encoded: text),
            !bytes.isEmpty
        else { return nil }
        return Array(bytes)
    }
}
