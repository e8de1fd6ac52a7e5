import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// The credentials that authenticated a connection, for schemes that authenticate connections (NTLM, Negotiate).
struct BoundCredentials {
    struct Party {
        let credential: URLCredential
        /// Whether the credential is used only for requests whose URLs contain it.
        let isOfURL: Bool
    }

    let server: Party?
    let proxy: Party?
}

/// An exchange's authentication to the server, and to a proxy that receives the request.
struct ExchangeAuthentication {
    /// The state of the authentication to the server or to the proxy.
    struct Party {
        /// Nil before the first challenge.
        var handshake: AuthenticationHandshake?
        /// False if the caller has set the field, which is then sent unchanged.
        var isAllowed: Bool

        /// Whether the server or the proxy is expected to accept the request.
        var isLastStep: Bool { handshake?.isLastStep ?? true }

        /// The request was answered before the handshake was complete. It continues without the handshake.
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

    /// The credentials that authenticated the exchange's connection, for all requests that follow on it.
    var boundCredentials: BoundCredentials? {
        guard server.handshake != nil || proxy.handshake != nil else { return nil }
        let (server, proxy) = (server.handshake?.boundCredential, proxy.handshake?.boundCredential)
        return server == nil && proxy == nil ? nil : BoundCredentials(server: server, proxy: proxy)
    }

    /// The request will be sent on another connection.
    func connectionWillChange() {
        server.handshake?.connectionWillChange()
        proxy.handshake?.connectionWillChange()
    }

    /// Whether ``prepare(_:)`` has work to do.
    var needsPreparation: Bool {
        server.handshake?.needsPreparation == true || proxy.handshake?.needsPreparation == true
    }

    /// Lets schemes that may block make the values for the next request. Calls `proceed` when the values are made, or
    /// at once if no work is needed. Does not call it after ``end()``.
    func prepare(_ proceed: @escaping () -> Void) {
        guard needsPreparation else { return proceed() }
        let proxy = proxy.handshake
        let prepareProxy = { if let proxy { proxy.prepare(proceed) } else { proceed() } }
        if let server = server.handshake { server.prepare(prepareProxy) } else { prepareProxy() }
    }

    /// Adds the fields that authenticate the request on a connection.
    func authorize(_ fields: inout HTTPFields, on connection: ConnectionInfo) {
        if let handshake = server.handshake {
            Self.set(.authorization, handshake.authorization(on: connection), &fields)
        }
        if let handshake = proxy.handshake {
            Self.set(.proxyAuthorization, handshake.authorization(on: connection), &fields)
        }
    }

    /// The field of an earlier sending is removed.
    private static func set(_ field: KnownField, _ value: String?, _ fields: inout HTTPFields) {
        if let value { fields.set(field, value) } else { fields.remove(field) }
    }

    /// The request goes through another proxy, or through none.
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

/// A response with a challenge, kept until it is decided whether it is final or the request is sent again.
struct ChallengingResponse {
    /// The next action after the response is held back.
    enum Next {
        case answer(AuthenticationHandshake)
        /// The request is sent again with its body and without credentials.
        case sendWhole
    }

    /// Nil once the connection is lost, which may happen while the program decides.
    private(set) var stream: (any HTTPStream)?
    private(set) var error: any Error = LoadFailure(.networkConnectionLost, "the connection was lost")
    let head: ResponseHead
    let response: HTTPURLResponse
    let hasBody: Bool
    /// Nil once the action has begun.
    private var next: Next?

    init(_ stream: any HTTPStream, _ head: ResponseHead, to request: URLRequest, hasBody: Bool, next: Next) {
        self.stream = stream
        self.head = head
        response = HTTPURLResponse(head, to: request)
        self.hasBody = hasBody
        self.next = next
    }

    mutating func takeNext() -> Next? { next.take() }

    mutating func lose(_ error: any Error) {
        stream = nil
        self.error = error
    }
}
