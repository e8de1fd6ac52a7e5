import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// With which credentials a connection was authenticated, where that is for the connection (NTLM, Negotiate).
struct BoundCredentials {
    let server: URLCredential?
    let proxy: URLCredential?

    /// Whether another request may be the same user's: the credential is not for one request alone, and the request does
    /// not name another.
    func mayAuthenticate(_ exchange: HTTPExchange) -> Bool {
        if let proxy, proxy.persistence == .none { return false }
        guard let server else { return true }
        guard server.persistence != .none, !exchange.fields.contains(.authorization) else { return false }
        guard let given = exchange.request.url?.credential else { return true }
        return given.user == server.user && given.password == server.password
    }
}

/// Whom an exchange proves itself to: the server, and a proxy that sees the request.
struct ExchangeLogins {
    /// How the exchange stands with one of them.
    struct Login {
        /// Nil while nobody has asked.
        var handshake: AuthenticationHandshake?
        /// False where the caller's own field is what is sent, and nothing else.
        var isAllowed: Bool

        /// Whether they are expected to let the request pass.
        var isLastStep: Bool { handshake?.isLastStep ?? true }

        /// What was taken for the whole request goes on without this.
        fileprivate mutating func giveUpIfUnfinished() {
            guard !isLastStep else { return }
            end()
            isAllowed = false
        }

        mutating func end() {
            handshake?.end()
            handshake = nil
        }
    }

    var server = Login(isAllowed: true)
    var proxy = Login(isAllowed: false)

    /// Whether the request is expected to be let pass, so that its body is sent with it.
    var isLastStep: Bool { server.isLastStep && proxy.isLastStep }

    var bindsToConnection: Bool {
        server.handshake?.bindsToConnection == true || proxy.handshake?.bindsToConnection == true
    }

    /// The credentials that the exchange's connection was authenticated with, for all requests that follow on it.
    var boundCredentials: BoundCredentials? {
        guard server.handshake != nil || proxy.handshake != nil else { return nil }
        let (server, proxy) = (server.handshake?.boundCredential, proxy.handshake?.boundCredential)
        return server == nil && proxy == nil ? nil : BoundCredentials(server: server, proxy: proxy)
    }

    /// The request will go out on another connection.
    func changesConnection() {
        server.handshake?.changesConnection()
        proxy.handshake?.changesConnection()
    }

    /// Adds what the request is to say on a connection.
    func authorize(_ fields: inout HTTPFields, on connection: ConnectionInfo) {
        if let value = server.handshake?.authorization(on: connection) { fields.set(.authorization, value) }
        if let value = proxy.handshake?.authorization(on: connection) { fields.set(.proxyAuthorization, value) }
    }

    mutating func giveUpUnfinished() {
        server.giveUpIfUnfinished()
        proxy.giveUpIfUnfinished()
    }

    mutating func end() {
        server.end()
        proxy.end()
    }
}
