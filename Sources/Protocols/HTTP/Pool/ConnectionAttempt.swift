import Foundation
import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// A connection that is being opened for the requests that wait in a pool. Confined to the pool's loop.
final class ConnectionAttempt {
    struct Question {
        let challenge: URLAuthenticationChallenge
        let answer: ChallengeDecision
    }

    let id: HTTPConnectionPool.AttemptID
    private(set) weak var driver: ConnectionPoolDriver?
    private let route: Route
    let storage: URLCredentialStorage?
    var handle: (any PendingConnection)?
    private weak var challengedBefore: HTTPExchange?
    var question: Question?
    /// Whether the request may take another route, and gives this one a part of its time only.
    var hasAnotherRoute = false

    init(_ driver: ConnectionPoolDriver, _ id: HTTPConnectionPool.AttemptID) {
        self.id = id
        self.driver = driver
        route = driver.route
        storage = driver.session.settings.credentialStorage
    }

    var number: UInt32 { handle?.number ?? 0 }
    var origin: Origin { route.origin }
    var proxy: Proxy? { route.proxy }
    var decidingDelegate: ObjectIdentifier? { route.decidingDelegate.map { ObjectIdentifier($0) } }
    var challenged: HTTPExchange? { driver?.challenged(for: id) }

    private var requester: TunnelRequester? {
        guard let exchange = challenged, let receiver = exchange.receiver else { return nil }
        return TunnelRequester(exchange.request, exchange.session, exchange.resources.task, receiver)
    }

    /// - Parameter completion: called once, unless the attempt is cancelled.
    func connect(
        offersHTTP2: Bool, in time: ConnectTime, completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) {
        guard let session = driver?.session else { return }
        do {
            let server =
                try origin.isSecure
                ? TLSDemand(
                    session.tlsContext(offersHTTP2, for: route.serverName), route.serverName, asking: originDecider)
                : nil
            guard let proxy else {
                handle = session.connector.connect(
                    to: route.endpoint, tls: server, over: route.use, timeout: time.limit
                ) { completion($0.mapError { $0 as any Error }) }
                return
            }
            let proxyTLS =
                try proxy.kind.isSecure
                ? TLSDemand(session.tlsContext(false, for: proxy.host), proxy.host, asking: makeProxyDecider(proxy))
                : nil
            let attempt = ProxiedConnect(
                route, proxy, origin.isSecure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy,
                session.connector, ProxiedConnect.Security(proxy: proxyTLS, server: server), time: time,
                requester: { [weak self] in self?.requester },
                setChallenging: { [weak self] in if $0 { self?.challengeWillBegin() } else { self?.challengeDidEnd() }
                },
                completion: completion)
            handle = attempt
            attempt.start()
        } catch {
            completion(.failure(error))
        }
    }

    private func challengeWillBegin() {
        challengedBefore = challenged
        driver?.attemptDidChallenge(id, for: challengedBefore)
    }

    private func challengeDidEnd() { driver?.attemptChallengeDidEnd(id) }

    /// The connection is no longer needed.
    func cancel() {
        let handle = handle
        end()
        handle?.cancel()
    }

    /// Returns the times of the attempt's steps; nil for an attempt through a proxy, which consists of several.
    @discardableResult
    func end() -> ConnectTimings? {
        if let question { challengedBefore?.receiver?.withdraw(question.challenge) }
        question = nil
        // The handle has a reference to this object, which decides in its handshakes.
        defer { handle = nil }
        return (handle as? ConnectAttempt)?.timingsSoFar
    }
}

/// Presents a TLS handshake's challenges to the program of the exchange that has waited longest. If that exchange stops
/// waiting, another attempt replaces this one, and asks the next exchange: no connection depends on a task that has
/// ended.
extension ConnectionAttempt: TLSAsker {
    var mayChallenge: Bool { challenged?.receiver?.answersChallenges ?? false }

    var originDecider: any TLSDecider {
        TLSChallenger(
            TLSSite(origin.host, Int(origin.port)), storage, partition: "\(partition) \(proxyPartition)", asking: self)
    }

    func makeProxyDecider(_ proxy: Proxy) -> any TLSDecider {
        TLSChallenger(TLSSite(proxy, isSecure: origin.isSecure), storage, partition: partition, asking: self)
    }

    /// The task's own delegate decides only for its own connections.
    private var partition: String { decidingDelegate.map { "\($0)" } ?? "" }

    /// A TLS session of one proxy's connections is not resumed through another proxy.
    private var proxyPartition: String { proxy?.partition ?? "" }

    /// A server's responses do not depend on the client's identity at a proxy, unless the proxy forwards the requests.
    func willAuthenticate(to site: TLSSite, as identity: TLSIdentity) {
        guard site.proxyType == nil || driver?.route.isForwarded == true else { return }
        driver?.session.authentication.willAuthenticateConnection(to: origin, as: identity)
    }

    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeDecision) {
        guard let receiver = challenged?.receiver, receiver.answersChallenges else {
            return answer(.performDefaultHandling, nil)
        }
        question = Question(challenge: challenge, answer: answer)
        challengeWillBegin()
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, let question, question.challenge === challenge else { return }
            self.question = nil
            challengeDidEnd()
            question.answer(disposition, credential)
        }
    }
}

extension TLSSite {
    /// - Parameter isSecure: whether the proxy is for an `https` URL.
    init(_ proxy: Proxy, isSecure: Bool) {
        let type = isSecure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy
        self.init(proxy.host, Int(proxy.port), proxyType: type)
    }
}
