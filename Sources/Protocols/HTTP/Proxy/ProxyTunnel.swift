import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// The proxy that connections of another protocol than HTTP go through, each in a tunnel of its own.
package struct TunnelProxy: Hashable, Sendable {
    let proxy: Proxy
}

/// Decides which proxy a connection for `ftp` URLs goes through: by the settings' dictionary its proxy for FTP, else the one
/// for SOCKS; where there is no dictionary, by the environment `ftp_proxy`, else `all_proxy`.
package struct FTPProxyRules: Sendable {
    private let rules: ProxyRules
    /// Whether the proxies come from a resolver, which is asked for HTTP's URLs alone.
    private let needsResolver: Bool

    package init(_ settings: SessionSettings) {
        self.init(settings, environment: ProcessInfo.processInfo.environment)
    }

    init(_ settings: SessionSettings, environment: @autoclosure () -> [String: String]) {
        let dictionary = settings.connectionProxyDictionary
        rules = ProxyRules(dictionary.map(Self.renamed), environment: Self.renamed(environment()))
        needsResolver = rules.script != nil || dictionary == nil && settings.proxyResolver != nil
    }

    /// The proxy for a host; nil where it is reached directly. Throws where that is not known.
    package func proxy(to host: String) throws(LoadFailure) -> TunnelProxy? {
        let origin = Origin(isSecure: true, host: host, port: 21)
        guard needsResolver, !rules.isExcepted(origin) else { return rules.proxy(for: origin).map(TunnelProxy.init) }
        throw LoadFailure(
            .cannotConnectToHost,
            "the session's proxies are found by configuration.proxyResolver or a script, which know none for ftp: name one in "
                + "connectionProxyDictionary (kCFNetworkProxiesFTPProxy); an empty dictionary means none")
    }

    // The rules for https are those of tunnels: their names stand for those of FTP.

    private static func renamed(_ dictionary: [AnyHashable: Any]) -> [AnyHashable: Any] {
        var renamed = dictionary
        renamed[kCFNetworkProxiesHTTPSEnable] = dictionary[kCFNetworkProxiesFTPEnable]
        renamed[kCFNetworkProxiesHTTPSProxy] = dictionary[kCFNetworkProxiesFTPProxy]
        renamed[kCFNetworkProxiesHTTPSPort] = dictionary[kCFNetworkProxiesFTPPort]
        return renamed
    }

    private static func renamed(_ environment: [String: String]) -> [String: String] {
        var renamed = environment
        renamed["https_proxy"] = environment["ftp_proxy"]
        renamed["HTTPS_PROXY"] = environment["FTP_PROXY"]
        return renamed
    }
}

/// Opens one tunnel through a proxy, with the user and the password of the proxy's settings. Confined to its loop.
package final class ProxyTunnel {
    private enum State {
        case connecting(ConnectAttempt?)
        case tunnelling(TunnelDriver)
        case ended
    }

    private let proxy: Proxy
    private let destination: TunnelDestination
    private let loop: EventLoop
    private let timeout: UInt64?
    private var state = State.connecting(nil)
    private var timer: LoopTimer?
    private var completion: ((Result<ByteStream, any Error>) -> Void)?

    /// - Parameters:
    ///   - host: a name or an address, without brackets.
    ///   - timeout: nanoseconds for each step; nil for no limit.
    ///   - completion: called once, after ``start(_:_:over:)`` has returned, unless the tunnel is cancelled.
    package init(
        to host: String, port: UInt16, through proxy: TunnelProxy, on loop: EventLoop, timeout: UInt64?,
        completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) {
        self.proxy = proxy.proxy
        destination = TunnelDestination(host: host, port: port)
        self.loop = loop
        self.timeout = timeout
        self.completion = completion
    }

    /// Connects to the proxy.
    package func start(_ connector: Connector, _ settings: SessionSettings, over use: NetworkUse) throws {
        try DNSSECRule.checkProxied(destination.host, over: use)
        var tls: (context: TLSContext, serverName: String)?
        if proxy.kind == .https {
            tls = (try TLSContext(TLSOptions(settings, host: proxy.host, alpn: ["http/1.1"])), proxy.host)
        }
        let attempt = connector.connect(to: proxy.endpoint, tls: tls, over: use, timeout: timeout) { [self] result in
            switch result {
            case .success(let stream): run(stream)
            case .failure(let error) where error.cause == .timedOut: end(.failure(error))
            case .failure(let error): fail(.unreachable(error.description))
            }
        }
        state = .connecting(attempt)
    }

    package func cancel() {
        completion = nil
        stop()
    }

    private func run(_ stream: ByteStream) {
        let driver = TunnelDriver(stream, proxy, destination: destination.authority, readsAhead: false) {
            [self] outcome in
            switch outcome {
            case .established(let stream, _): end(.success(stream))
            case .challenged: fail(.authentication)
            case .failed(let error): end(.failure(error))
            }
        }
        state = .tunnelling(driver)
        if let timeout {
            timer = loop.schedule(at: loop.now.advanced(byNanoseconds: timeout)) { [weak self] in
                guard let self else { return }
                end(.failure(TransportError(.connect, destination.authority, .timedOut)))
            }
        }
        switch proxy.kind {
        case .http, .https:
            let pair = proxy.credential.map { Data("\($0.user):\($0.password)".utf8).base64EncodedString() }
            driver.run(ConnectHandshake(destination, authorization: pair.map { "Basic \($0)" }))
        case .socks4: driver.run(SOCKS4Handshake(destination, proxy.credential))
        case .socks5: driver.run(SOCKS5Handshake(destination, proxy.credential))
        }
    }

    private func fail(_ cause: ProxyError.Cause) {
        end(.failure(ProxyError(proxy: proxy, destination: destination.authority, cause: cause)))
    }

    private func end(_ result: Result<ByteStream, any Error>) {
        guard let completion else { return }
        self.completion = nil
        if case .success = result { state = .ended }
        stop()
        completion(result.mapError { ($0 as? ProxyError).map(LoadFailure.init) ?? $0 })
    }

    private func stop() {
        timer?.cancel()
        timer = nil
        switch state {
        case .connecting(let attempt): attempt?.cancel()
        case .tunnelling(let driver): driver.cancel()
        case .ended: break
        }
        state = .ended
    }
}
