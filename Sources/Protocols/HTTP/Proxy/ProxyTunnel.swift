import Foundation
import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// Opens one tunnel through a proxy, for a connection that carries a protocol other than HTTP: for an `ftp` URL, or for
/// a stream task. Confined to its loop.
package final class ProxyTunnel: TunnelOwner, PendingConnection {
    private let find: () -> TunnelRequester?
    private var attempt: ProxiedConnect?

    /// - Parameter find: finds the load that waits for the tunnel; returns nil if no load waits.
    package init(requester find: @escaping () -> TunnelRequester?) { self.find = find }

    /// Connects to the proxy.
    ///
    /// - Parameters:
    ///   - host: a name or an address, without brackets.
    ///   - type: the type of an HTTP proxy in protection spaces.
    ///   - asker: passes the challenges of the TLS handshake with the proxy to the program.
    ///   - limit: the limit for each step in nanoseconds, if there is another way; otherwise the settings' own limit
    ///     applies.
    ///   - completion: called once, after this method has returned, unless the tunnel is cancelled.
    package func start(
        to host: String, port: UInt16, through proxy: Proxy, _ type: String, over use: NetworkUse,
        _ connector: Connector, _ settings: SessionSettings, asking asker: any TLSAsker, limit: UInt64?,
        completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) throws {
        try DNSSECRule.checkProxied(host, over: use)
        let origin = Origin(isSecure: false, host: host, port: port)
        let route = Route(origin: origin, proxy: proxy, use: use, switching: .inHTTP1)
        let decider = TLSChallenger(
            TLSSite(proxy.host, Int(proxy.port), proxyType: type), settings.credentialStorage,
            asking: asker)
        let tls =
            proxy.kind == .https
            ? TLSDemand(
                try TLSContext(TLSOptions(settings, host: proxy.host, alpn: ["http/1.1"])), proxy.host, asking: decider)
            : nil
        let attempt = ProxiedConnect(
            route, proxy, type, connector,
            ProxiedConnect.Security(proxy: tls, server: nil), for: self,
            readsAhead: false, time: ConnectTime(settings.connectTimeout, ofWay: limit), completion: completion)
        self.attempt = attempt
        attempt.start()
    }

    package func cancel() { attempt?.cancel() }

    var requester: TunnelRequester? { find() }

    // The receiver of the challenge suspends the timeout while the program decides.

    func challengeWillBegin() {}
    func challengeDidEnd() {}
}
