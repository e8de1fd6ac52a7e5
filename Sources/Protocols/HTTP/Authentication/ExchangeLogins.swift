import LoadingKitPrimitives
import LoadingKitTransport

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
