import Foundation
import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// Opens one tunnel through a proxy, for a connection that carries another protocol than HTTP: for an `ftp` URL, or of a stream
/// task. Confined to its loop.
package final class ProxyTunnel: TunnelOwner, PendingConnection {
    private let find: () -> TunnelRequester?
    private var attempt: ProxiedConnect?

    /// - Parameter find: finds the load that waits for the tunnel; nil when none does.
    package init(requester find: @escaping () -> TunnelRequester?) { self.find = find }

    /// Connects to the proxy.
    ///
    /// - Parameters:
    ///   - host: a name or an address, without brackets.
    ///   - type: what an HTTP proxy is in protection spaces.
    ///   - asker: puts the questions of the TLS handshake with the proxy to the program.
    ///   - limit: nanoseconds for each step, where there is another way; else the settings' own.
    ///   - completion: called once, after this has returned, unless the tunnel is cancelled.
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

    // The receiver of the challenge sees to the time that the program takes.

    func challengeWillBegin() {}
    func challengeDidEnd() {}
}
