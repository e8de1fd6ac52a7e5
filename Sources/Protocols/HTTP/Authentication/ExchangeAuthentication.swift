import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// An exchange's authentication to the server, and to a proxy that receives the request.
struct ExchangeAuthentication {
    struct Party {
        /// Nil before the first challenge.
        var handshake: AuthenticationHandshake?
        /// False if the caller has set the field, which is then sent unchanged.
        var isAllowed: Bool

        var isLastStep: Bool { handshake?.isLastStep ?? true }

        /// The handshake, which begins with the first challenge; nil if it is not allowed.
        mutating func beginIfNeeded(_ context: () -> AuthenticationContext) -> AuthenticationHandshake? {
            if isAllowed, handshake == nil { handshake = AuthenticationHandshake(context()) }
            return isAllowed ? handshake : nil
        }

        /// The request was answered before the handshake was complete, and continues without it.
        fileprivate mutating func giveUpIfUnfinished() {
            guard !isLastStep else { return }
            isAllowed = false
            end()
        }

        mutating func end() { handshake.take()?.end() }
    }

    var server = Party(isAllowed: true)
    var proxy = Party(isAllowed: false)

    /// Whether the request is expected to be accepted, so that its body is sent with it.
    var isLastStep: Bool { server.isLastStep && proxy.isLastStep }

    var bindsToConnection: Bool {
        server.handshake?.bindsToConnection == true || proxy.handshake?.bindsToConnection == true
    }

    /// The requests that may use the connection after this exchange's request; nil if the request does not change that.
    /// A connection to a proxy is authenticated for the requests of all users.
    var binding: HTTPConnectionPool.Binding? {
        let (server, proxy) = (server.handshake?.boundCredential, proxy.handshake?.boundCredential)
        if server?.credential.persistence == URLCredential.Persistence.none { return .spent }
        if proxy?.credential.persistence == URLCredential.Persistence.none { return .spent }
        guard let server else { return nil }
        let user = HTTPConnectionPool.UserCredential(server.credential)
        return server.isOfURL ? .namedUser(user) : .user(user)
    }

    func connectionWillChange() {
        server.handshake?.connectionWillChange()
        proxy.handshake?.connectionWillChange()
    }

    /// Whether ``prepare(_:)`` has work to do.
    var needsPreparation: Bool {
        server.handshake?.needsPreparation == true || proxy.handshake?.needsPreparation == true
    }

    /// Lets schemes that may block make the values for the next request, then calls `proceed`, but not after ``end()``.
    func prepare(_ proceed: @escaping () -> Void) {
        guard needsPreparation else { return proceed() }
        let proxy = proxy.handshake
        let prepareProxy = { if let proxy { proxy.prepare(proceed) } else { proceed() } }
        if let server = server.handshake { server.prepare(prepareProxy) } else { prepareProxy() }
    }

    func authorize(_ fields: inout HTTPFields, on connection: ConnectionInfo) {
        if let handshake = server.handshake {
            Self.set(.authorization, handshake.authorizationOctets(on: connection), &fields)
        }
        if let handshake = proxy.handshake {
            Self.set(.proxyAuthorization, handshake.authorizationOctets(on: connection), &fields)
        }
    }

    private static func set(_ field: KnownField, _ value: [UInt8]?, _ fields: inout HTTPFields) {
        fields.remove(field)
        if let value { value.withUnsafeBytes { fields.append(field, valueBytes: $0) } }
    }

    mutating func proxyWillChange() {
        proxy.isAllowed = false
        proxy.end()
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

extension HTTPConnectionPool.UserCredential {
    convenience init(_ credential: URLCredential) { self.init(user: credential.user, password: credential.password) }
}
