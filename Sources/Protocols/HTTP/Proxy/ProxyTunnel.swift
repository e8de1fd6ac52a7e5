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
    ///   - asker: puts the questions of the TLS handshake with the proxy to the program.
    ///   - limit: nanoseconds for each step, where there is another way; else the settings' own.
    ///   - find: finds the load that waits for the tunnel; nil when none does.
    ///   - completion: called once, after this has returned, unless the attempt is cancelled.
    package static func connect(
        to host: String, port: UInt16, through proxy: Proxy?, _ type: String, over use: NetworkUse,
        _ connector: Connector, _ settings: SessionSettings, asking asker: any TLSAsker, limit: UInt64?,
        requester find: @escaping () -> TunnelRequester?,
        completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) throws -> any PendingConnection {
        guard let proxy else {
            return connector.connect(
                to: .tcp(host: host, port: port), over: use, timeout: limit ?? settings.connectTimeout
            ) { completion($0.mapError { $0 as any Error }) }
        }
        let tunnel = ProxyTunnel(requester: find)
        try tunnel.start(to: host, port, proxy, type, use, connector, settings, asker, limit, completion)
        return tunnel
    }

    private func start(
        to host: String, _ port: UInt16, _ proxy: Proxy, _ type: String, _ use: NetworkUse, _ connector: Connector,
        _ settings: SessionSettings, _ asker: any TLSAsker, _ limit: UInt64?,
        _ completion: @escaping (Result<ByteStream, any Error>) -> Void
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
