import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// The proxy that connections of another protocol than HTTP go through, each in a tunnel of its own.
package struct TunnelProxy: Hashable, Sendable {
    fileprivate let proxy: Proxy

    /// The proxy for `ftp` URLs of a host; nil where it is reached directly. As the settings' dictionary says: its proxy for
    /// FTP, else the one for SOCKS; where there is no dictionary, as the environment does: `ftp_proxy`, else `all_proxy`.
    package init?(forFTPTo host: String, _ settings: SessionSettings) {
        let found =
            settings.connectionProxyDictionary.map { Self.proxy(forFTPTo: host, $0) }
            ?? Self.proxy(forFTPTo: host, environment: ProcessInfo.processInfo.environment)
        guard let found else { return nil }
        proxy = found
    }

    private static func proxy(forFTPTo host: String, _ dictionary: [AnyHashable: Any]) -> Proxy? {
        let exceptions = ProxyExceptions(dictionary[kCFNetworkProxiesExceptionsList] as? [String] ?? [])
        guard !exceptions.contains(host) else { return nil }
        // The rules for https are those of tunnels: their keys stand for those of FTP.
        var renamed: [AnyHashable: Any] = [:]
        for (key, value) in dictionary {
            switch key as? String {
            case kCFNetworkProxiesFTPEnable: renamed[kCFNetworkProxiesHTTPSEnable] = value
            case kCFNetworkProxiesFTPProxy: renamed[kCFNetworkProxiesHTTPSProxy] = value
            case kCFNetworkProxiesFTPPort: renamed[kCFNetworkProxiesHTTPSPort] = value
            case kCFNetworkProxiesHTTPSEnable, kCFNetworkProxiesHTTPSProxy, kCFNetworkProxiesHTTPSPort: break
            case _: renamed[key] = value
            }
        }
        return ProxyRules(renamed, environment: [:]).proxy(for: Origin(isSecure: true, host: host, port: 21))
    }

    private static func proxy(forFTPTo host: String, environment: [String: String]) -> Proxy? {
        func value(_ name: String) -> String? {
            (environment[name] ?? environment[name.uppercased()]).flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let proxy = (value("ftp_proxy") ?? value("all_proxy")).flatMap(Proxy.init),
            !ProxyExceptions(list: value("no_proxy") ?? "").contains(host)
        else { return nil }
        return proxy
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
