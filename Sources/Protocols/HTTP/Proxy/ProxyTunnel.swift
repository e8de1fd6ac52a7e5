import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The proxy that connections of another protocol than HTTP go through, each in a tunnel of its own.
package struct TunnelProxy: Hashable, Sendable {
    let proxy: Proxy
}

/// Opens one tunnel through a proxy for a connection for an `ftp` URL. Confined to its loop.
package final class ProxyTunnel: TunnelOwner {
    private let find: () -> TunnelRequester?
    private var attempt: ProxiedConnect?

    /// - Parameter find: finds the load that waits for the tunnel; nil when none does.
    package init(requester find: @escaping () -> TunnelRequester?) { self.find = find }

    /// Connects to the proxy.
    ///
    /// - Parameters:
    ///   - host: a name or an address, without brackets.
    ///   - asker: puts the questions of the TLS handshake with the proxy to the program.
    ///   - limit: nanoseconds for each step, where there is another way; else the settings' own.
    ///   - completion: called once, after this has returned, unless the tunnel is cancelled.
    package func start(
        to host: String, port: UInt16, through proxy: TunnelProxy, over use: NetworkUse, _ connector: Connector,
        _ settings: SessionSettings, asking asker: any TLSAsker, limit: UInt64?,
        completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) throws {
        try DNSSECRule.checkProxied(host, over: use)
        let proxy = proxy.proxy
        let origin = Origin(isSecure: false, host: host, port: port)
        let route = Route(origin: origin, proxy: proxy, use: use, switching: .inHTTP1)
        let decider = TLSChallenger(
            TLSSite(proxy.host, Int(proxy.port), proxyType: NSURLProtectionSpaceFTPProxy), settings.credentialStorage,
            asking: asker)
        let tls =
            proxy.kind == .https
            ? TLSDemand(
                try TLSContext(TLSOptions(settings, host: proxy.host, alpn: ["http/1.1"])), proxy.host, asking: decider)
            : nil
        let attempt = ProxiedConnect(
            route, proxy, NSURLProtectionSpaceFTPProxy, connector,
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
