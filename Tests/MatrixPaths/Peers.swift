import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport

/// The server of a trial.
package protocol MatrixPeer: Sendable {
    var port: UInt16 { get }
    /// Fired with each connection that is accepted.
    var openings: Recorder<Int> { get }
    /// What came from now on is the trial's.
    func begin()
    /// What has come.
    func observe(into observation: inout Observation)
    func stop()
}

/// The certificates of all trials.
package enum MatrixAuthority {
    package static let authority = Result { try CertificateAuthority() }
    package static let identity = Result { try authority.get().issue(.names("localhost", "127.0.0.1")) }

    package static var pem: String { (try? authority.get().certificatePEM) ?? "" }
}

extension Trial {
    func tlsOptions(_ protocols: [String]) throws -> TLSServerOptions? {
        guard usesTLS else { return nil }
        var options = TLSServerOptions(try MatrixAuthority.identity.get(), applicationProtocols: protocols)
        tls(&options)
        return options
    }
}

/// Answers HTTP, by what the path needs.
final class HTTPPeer: MatrixPeer {
    package static let content = Array(String(repeating: "0123456789", count: 100).utf8)

    let server: LoopbackServer
    let uploads: UploadPeer?
    private let began: Box<(requests: Int, connections: Int)?>
    private let clients: Box<Clients>

    init(_ trial: Trial) throws {
        let began = Box<(requests: Int, connections: Int)?>(nil)
        let clients = Box(Clients())
        let uploads = trial.path == .resumedUpload ? UploadPeer() : nil
        let protocols = trial.path == .http2 ? ["h2"] : ["http/1.1"]
        let address = trial.socketPath.map { LoopbackAddress.unix(path: $0) } ?? .ipv4()
        var options = LoopbackServer.Options(address, tls: try trial.tlsOptions(protocols))
        options.speaksHTTP2 = trial.speaksHTTP2
        uploads?.serve(&options)
        let port = Box<UInt16>(0)
        server = try LoopbackServer(options) { request in
            if request.path == "/start" { return .redirect(to: "/\(trial.target)", status: 307) }
            if trial.path == .resumedDownload, began.value == nil { return try Self.firstPart(request) }
            if trial.path != .resumedUpload || began.value != nil {
                clients.look(at: port.value)
                if trial.isSilent { try request.exchange.waitUntilClientCloses() }
                if let answer = try trial.answer(request) { return answer }
            }
            let usual = try uploads?.answer(request) ?? Self.usual(request, trial.path)
            return trial.adds.reduce(usual) { $0.adding($1.0, $1.1) }
        }
        port.value = server.address.port ?? 0
        self.began = began
        self.clients = clients
        self.uploads = uploads
    }

    var port: UInt16 { server.address.port ?? 0 }
    var openings: Recorder<Int> { server.openings }

    func begin() { began.value = (server.requests.count, server.openings.count) }

    func observe(into observation: inout Observation) {
        let began = began.value ?? (0, 0)
        observation.requests = server.requests.snapshot.dropFirst(began.requests).filter { $0.path != "/start" }
        observation.connections = server.openings.count - began.connections
        observation.handshakes = observation.requests.compactMap(\.tls)
        (observation.sockets, observation.areOfThisProcess) = clients.found
    }

    func stop() { server.stop() }

    /// Half of a resource, and then nothing until the client has gone.
    private static func firstPart(_ request: ServerRequest) throws -> ServerResponse {
        ServerResponse.stream(.length(UInt64(content.count))) { body in
            try body.write(Array(content.prefix(500)))
            try request.exchange.waitUntilClientCloses()
        }.adding("ETag", "\"v1\"").adding("Accept-Ranges", "bytes")
    }

    private static func usual(_ request: ServerRequest, _ path: MatrixPath) throws -> ServerResponse {
        if path == .webSocket { return .webSocket(request) { try $0.echo() } }
        guard request.fields[name: "Range"] == "bytes=500-" else { return .text("hello") }
        return ServerResponse(206, body: .bytes(Array(content.dropFirst(500))))
            .adding("ETag", "\"v1\"").adding("Content-Range", "bytes 500-999/1000")
    }
}

/// Sends back what a stream task sends.
final class StreamPeer: MatrixPeer {
    let openings = Recorder<Int>()
    private let handshakes = Recorder<TLSFacts>()
    private let clients = Box(Clients())
    private let acceptor: ConnectionAcceptor

    init(_ trial: Trial) throws {
        let context = try trial.tlsOptions([]).map { try TLSServerContext($0) }
        let stopping = Signal()
        let port = Box<UInt16>(0)
        acceptor = try ConnectionAcceptor(.ipv4(), stopping: stopping) {
            [openings, handshakes, clients] socket, number in
            openings.append(number)
            clients.look(at: port.value)
            if trial.isSilent {
                stopping.waitBlocking()
                return
            }
            if let context {
                guard (try? socket.startTLS(context)) != nil else { return }
                if let facts = socket.tlsFacts { handshakes.append(facts) }
            }
            while let bytes = try? socket.read(), !bytes.isEmpty { try? socket.write(bytes) }
        }
        port.value = acceptor.address.port ?? 0
    }

    var port: UInt16 { acceptor.address.port ?? 0 }

    func begin() {}

    func observe(into observation: inout Observation) {
        observation.connections = openings.count
        observation.handshakes = handshakes.snapshot
        (observation.sockets, observation.areOfThisProcess) = clients.found
    }

    func stop() { acceptor.stop() }
}
