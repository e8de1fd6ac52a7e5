import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives

/// A SOCKS proxy that ends each connection when it has heard what it is.
final class ProxyPeer: Sendable {
    private let acceptor: ConnectionAcceptor
    private let versions: Recorder<UInt8>

    init() throws {
        let versions = Recorder<UInt8>()
        self.versions = versions
        acceptor = try ConnectionAcceptor(.ipv4()) { socket, _ in
            if let version = try? socket.read().first { versions.append(version) }
        }
    }

    var connections: Int { versions.count }

    /// What the first connection began with: the version of SOCKS.
    func version() async -> UInt8? { await versions.element(at: 0) }

    var port: UInt16 { acceptor.address.port ?? 0 }

    var dictionary: [AnyHashable: Any] {
        [
            kCFNetworkProxiesSOCKSEnable: true, kCFNetworkProxiesSOCKSProxy: "127.0.0.1",
            kCFNetworkProxiesSOCKSPort: Int(port),
        ]
    }

    func stop() { acceptor.stop() }
}

/// Leads all loads through one proxy.
struct MatrixResolver: ProxyResolver {
    let port: UInt16

    func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] {
        [ProxyChoice(.socks5, host: "127.0.0.1", port: port)]
    }
}
