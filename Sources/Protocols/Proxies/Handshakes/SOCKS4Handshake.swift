import LoadingKitPrimitives
import LoadingKitTransport

/// SOCKS 4A: a request and a reply. The proxy resolves names. The protocol has no IPv6 addresses, so they are sent as
/// names.
package struct SOCKS4Handshake: TunnelHandshake {
    private static let version: UInt8 = 4

    private let destination: TunnelDestination
    private let user: String
    private var received: [UInt8] = []

    package init(_ destination: TunnelDestination, _ credential: Proxy.Credential?) {
        self.destination = destination
        user = credential?.user ?? ""
    }

    package mutating func begin() throws(ProxyError.Cause) -> [UInt8] {
        guard !user.utf8.contains(0) else { throw .authentication }
        let start = [Self.version, 1, UInt8(destination.port >> 8), UInt8(destination.port & 0xFF)]
        if case .v4? = IPAddress(destination.host), let address = IPAddress(destination.host)?.bytes {
            return start + address + user.utf8 + [0]
        }
        let name = Array(destination.host.utf8)
        guard !name.isEmpty, name.count <= 255, !name.contains(0) else { throw .unusableName }
        // The invalid address 0.0.0.1 means that a name follows.
        return start + [0, 0, 0, 1] + user.utf8 + [0] + name + [0]
    }

    package var awaited: String {
        received.isEmpty ? "its SOCKS reply" : "the rest of its SOCKS reply (bytes so far: \(received.count))"
    }

    package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProxyError.Cause) -> TunnelStep {
        received += bytes
        guard received.count >= 8 else { return .needsMore }
        guard received[0] == 0 else { throw .malformed("its reply is not SOCKS 4") }
        switch received[1] {
        case 90: break
        case 91: throw .refused("it refused, or failed")
        case 92, 93: throw .authentication
        case let reply: throw .refused("it answered \(reply)")
        }
        guard received.count == 8 else { throw .malformed("bytes after its reply") }
        return .established(HTTPFields())
    }
}
