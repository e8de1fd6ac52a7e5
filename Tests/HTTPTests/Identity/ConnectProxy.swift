import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport

/// A proxy that makes tunnels to servers of this machine.
enum ConnectProxy {
    static func make(_ address: LoopbackAddress = .ipv4()) throws -> LoopbackServer {
        try LoopbackServer(LoopbackServer.Options(address)) { request in
            guard request.method == "CONNECT",
                let port = request.target.split(separator: ":").last.flatMap({ UInt16($0) })
            else { return .text("no tunnel", status: 405) }
            let server = try StreamSocket(connectingTo: .ipv4(port: port))
            return ServerResponse(body: .takeOver { client in try relay(client, server) })
        }
    }

    fileprivate static func relay(_ client: StreamSocket, _ server: StreamSocket) throws {
        let back = try WorkerThread { pass(from: server, to: client) }
        pass(from: client, to: server)
        server.interrupt()
        client.interrupt()
        back.join()
        server.close()
    }

    private static func pass(from source: StreamSocket, to target: StreamSocket) {
        while let bytes = try? source.read(), !bytes.isEmpty, (try? target.write(bytes)) != nil {}
        target.halfClose()
    }

    static func dictionary(_ proxy: LoopbackServer, user: String?) -> [AnyHashable: Any] {
        var dictionary: [AnyHashable: Any] = [
            "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.address.port ?? 0),
        ]
        if let user {
            dictionary[kCFProxyUsernameKey] = user
            dictionary[kCFProxyPasswordKey] = user
        }
        return dictionary
    }
}

/// A port at which one server or another answers, as a test says: what a client meets that comes back.
final class Doorway: Sendable {
    let port: UInt16
    /// The numbers of the connections that came.
    let connections = Recorder<Int>()
    private let target: Box<UInt16>
    private let acceptor: ConnectionAcceptor

    init(to server: LoopbackServer) throws {
        let target = Box(server.address.port ?? 0)
        self.target = target
        acceptor = try ConnectionAcceptor(.ipv4()) { [connections] client, number in
            connections.append(number)
            guard let server = try? StreamSocket(connectingTo: .ipv4(port: target.value)) else { return }
            try? ConnectProxy.relay(client, server)
        }
        port = acceptor.address.port ?? 0
    }

    /// New connections lead to this server.
    func lead(to server: LoopbackServer) { target.value = server.address.port ?? 0 }

    func stop() { acceptor.stop() }
}

extension ServerRequest {
    /// The user of a Basic credential.
    var basicUser: String? {
        guard let value = fields[.authorization], let data = Data(base64Encoded: String(value.dropFirst(6)))
        else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: ":").first.map { String($0) }
    }
}
