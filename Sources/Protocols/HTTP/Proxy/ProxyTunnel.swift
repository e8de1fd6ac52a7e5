import Foundation
import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// Opens a tunnel through a proxy, for a connection that carries another protocol than HTTP: for an `ftp` URL, or for a
/// stream task. Confined to its loop.
package enum ProxyTunnel {
    /// Connects to a host through a tunnel, or directly without a proxy.
    ///
    /// - Parameters:
    ///   - host: a name or an address, without brackets.
    ///   - type: the type of an HTTP proxy in protection spaces.
    ///   - tls: secures the connection to the host.
    ///   - asker: presents the challenges of the proxy's TLS handshake to the program.
    ///   - time: the time for each step.
    ///   - find: finds the load that waits for the tunnel, if there is one.
    ///   - completion: called once, after this call has returned, unless the attempt is cancelled.
    package static func connect(
        to host: String, port: UInt16, through proxy: Proxy?, _ type: String, over use: NetworkUse,
        tls: TLSDemand? = nil, _ connector: Connector, _ settings: SessionSettings, asking asker: any TLSAsker,
        time: ConnectTime, requester find: @escaping () -> TunnelRequester?,
        completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) throws -> any PendingConnection {
        guard let proxy else {
            return connector.connect(
                to: .tcp(host: host, port: port), tls: tls, over: use, timeout: time.limit
            ) { completion($0.mapError { $0 as any Error }) }
        }
        try DNSSECRule.checkProxied(host, over: use)
        let origin = Origin(isSecure: false, host: host, port: port)
        let route = Route(origin: origin, proxy: proxy, use: use, switching: .inHTTP1)
        let decider = TLSChallenger(
            TLSSite(proxy.host, Int(proxy.port), proxyType: type), settings.credentialStorage,
            asking: asker)
        let proxyTLS =
            proxy.kind.isSecure
            ? TLSDemand(
                try TLSContext(TLSOptions(settings, host: proxy.host, alpn: ["http/1.1"])), proxy.host, asking: decider)
            : nil
        // The receiver of a challenge suspends the timeout while the program decides.
        let attempt = ProxiedConnect(
            route, proxy, type, connector, ProxiedConnect.Security(proxy: proxyTLS, server: tls), readsAhead: false,
            time: time, requester: find, completion: completion)
        attempt.start()
        return attempt
    }
}

extension TunnelRequester {
    package init(_ request: URLRequest, _ resources: LoadResources, _ receiver: any ChallengeReceiver) {
        self.init(request, HTTPSession.of(resources.core), resources.task, receiver)
    }
}
