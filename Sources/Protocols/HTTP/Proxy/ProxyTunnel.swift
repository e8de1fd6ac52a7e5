import Foundation
import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// Opens one tunnel through a proxy, for a connection that carries a protocol other than HTTP: for an `ftp` URL, or for
/// a stream task. Confined to its loop.
package final class ProxyTunnel: TunnelOwner, PendingConnection {
    private let find: () -> TunnelRequester?
    private var attempt: ProxiedConnect?

    private init(requester find: @escaping () -> TunnelRequester?) { self.find = find }

    /// Connects to a host by a tunnel of its own, or directly where there is no proxy.
    ///
    /// - Parameters:
    ///   - host: a name or an address, without brackets.
    ///   - type: what an HTTP proxy is in protection spaces.
    ///   - tls: with it the connection to the host is secured.
    ///   - asker: puts the questions of the TLS handshake with the proxy to the program.
    ///   - limit: nanoseconds for each step, where there is another way; else the settings' own.
    ///   - find: finds the load that waits for the tunnel; nil when none does.
    ///   - completion: called once, after this has returned, unless the attempt is cancelled.
    package static func connect(
        to host: String, port: UInt16, through proxy: Proxy?, _ type: String, over use: NetworkUse,
        tls: TLSDemand? = nil, _ connector: Connector, _ settings: SessionSettings, asking asker: any TLSAsker,
        limit: UInt64?, requester find: @escaping () -> TunnelRequester?,
        completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) throws -> any PendingConnection {
        guard let proxy else {
            return connector.connect(
                to: .tcp(host: host, port: port), tls: tls, over: use, timeout: limit ?? settings.connectTimeout
            ) { completion($0.mapError { $0 as any Error }) }
        }
        try DNSSECRule.checkProxied(host, over: use)
        let origin = Origin(isSecure: false, host: host, port: port)
        let route = Route(origin: origin, proxy: proxy, use: use, switching: .inHTTP1)
        let decider = TLSChallenger(
            TLSSite(proxy.host, Int(proxy.port), proxyType: type), settings.credentialStorage,
            asking: asker)
        let proxyTLS =
            proxy.kind == .https
            ? TLSDemand(
                try TLSContext(TLSOptions(settings, host: proxy.host, alpn: ["http/1.1"])), proxy.host, asking: decider)
            : nil
        let tunnel = ProxyTunnel(requester: find)
        let attempt = ProxiedConnect(
            route, proxy, type, connector,
            ProxiedConnect.Security(proxy: proxyTLS, server: tls), for: tunnel,
            readsAhead: false, time: ConnectTime(settings.connectTimeout, ofWay: limit), completion: completion)
        tunnel.attempt = attempt
        attempt.start()
        return tunnel
    }

    package func cancel() { attempt?.cancel() }

    var requester: TunnelRequester? { find() }

    // The receiver of the challenge suspends the timeout while the program decides.

    func challengeWillBegin() {}
    func challengeDidEnd() {}
}
