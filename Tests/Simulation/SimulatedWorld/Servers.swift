import CSimulatedSystem
import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport

/// The servers of a world: HTTP/1.1, the same with TLS, and HTTP/2.
struct Servers: Sendable {
    /// A name that has to be looked up.
    private static let name = "plain.local"
    /// The greatest age of `cached` resources, in seconds.
    static let greatestAge = 20.0

    let plain: LoopbackServer
    let secure: LoopbackServer
    let http2: LoopbackServer
    let hostile: HostileServer
    let files: FaultyFTPServer
    private let proxy: RelayProxy
    private let socks: RelayProxy
    let certificate: String

    var all: [LoopbackServer] { [plain, secure, http2] }

    /// On a thread whose calls, and those of the threads that it creates, do not fail on purpose.
    static func make(_ ledger: Ledger) async throws -> Servers {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                sim_belong_to_server()
                continuation.resume(with: Result { try Servers(ledger) })
            }
        }
    }

    private init(_ ledger: Ledger) throws {
        let authority = try CertificateAuthority()
        certificate = authority.certificatePEM
        let identity = try authority.issue()
        let route: LoopbackServer.Route = { try Self.answer($0, ledger) }
        func server(_ tls: TLSServerOptions?) throws -> LoopbackServer {
            var options = LoopbackServer.Options(tls: tls)
            options.recordsRequests = false
            return try LoopbackServer(options, route: route)
        }
        plain = try server(nil)
        secure = try server(TLSServerOptions(identity))
        http2 = try server(TLSServerOptions(identity, applicationProtocols: ["h2", "http/1.1"]))
        hostile = try HostileServer()
        files = try FaultyFTPServer(Self.faultsOfFTP())
        sim_add_name(Self.name, "::1,127.0.0.1", sim_random(2_000_000))
        proxy = try RelayProxy(.http)
        socks = try RelayProxy(.socks5)
    }

    func stop() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                for server in all { server.stop() }
                hostile.stop()
                files.stopping.fire()
                files.stop()
                proxy.stop()
                socks.stop()
                continuation.resume()
            }
        }
    }

    /// What the ftp server does wrong, each once: nothing that a client could take for good.
    private static func faultsOfFTP() -> [FaultyFTPServer.Fault] {
        let steps = ["greeting", "USER", "PASS", "TYPE", "EPSV", "SIZE", "RETR", "end"]
        let actsOnData: [FaultyFTPServer.Act] = [
            .moreData(1), .moreData(70_000), .cutData(1000), .resetData, .closeControlAfterData,
        ]
        let acts: [FaultyFTPServer.Act] = [
            .reset, .byteByByte, .silence, .close("421 Bye\r\n"), .reply("500 What?\r\n"),
            .reply("nonsense"),
            .after("nonsense\r\n"),
        ]
        return (0..<Int(sim_random(4))).map { _ in
            if sim_random(3) == 0 {
                return FaultyFTPServer.Fault(step: "RETR", act: actsOnData[Int(sim_random(UInt64(actsOnData.count)))])
            }
            return FaultyFTPServer.Fault(
                step: steps[Int(sim_random(UInt64(steps.count)))], act: acts[Int(sim_random(UInt64(acts.count)))])
        }
    }

    /// The way of a session to its servers.
    func proxySettings() -> [AnyHashable: Any]? {
        switch sim_random(6) {
        case 0: settings(of: .http)
        case 1: settings(of: .socks)
        default: nil
        }
    }

    func settings(of kind: FaultRun.Scenario.Proxy) -> [AnyHashable: Any] {
        switch kind {
        case .http: ["HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
        case .socks: ["SOCKSEnable": 1, "SOCKSProxy": "127.0.0.1", "SOCKSPort": Int(socks.port)]
        }
    }

    func url(_ resource: Resource, at server: LoopbackServer) -> URL {
        guard let url = URL(string: server.url(resource.path)) else { preconditionFailure(resource.path) }
        return url
    }

    /// The URL at one of the servers that have such resources.
    func url(_ resource: Resource) -> URL {
        let server = all[Int(sim_random(UInt64(all.count)))]
        let text =
            resource.kind == .hostile
            ? "http://127.0.0.1:\(hostile.acceptor.address.port ?? 0)\(resource.path)"
            : server.url(resource.path, host: server.usesTLS || sim_random(2) == 0 ? nil : Self.name)
        guard let url = URL(string: text) else { preconditionFailure(text) }
        return url
    }

    // MARK: Answers

    static func answer(_ request: ServerRequest, _ ledger: Ledger) throws -> ServerResponse {
        if request.fields[name: "upgrade"] == "websocket" || request.connectProtocol == "websocket" {
            return .webSocket(request) { try $0.echo() }
        }
        guard let resource = Resource(path: request.path) else { return .text("no such resource", status: 404) }
        sim_trace("\(request.method) \(resource) on the server's connection \(request.connection)")
        checkSender(request, resource, ledger)
        if resource.kind == .echo {
            ledger.actsUpon(resource.number, repeats: request.fields[name: "x-repeats"].flatMap { Int($0) } ?? 0)
        }
        return try answer(request, resource)
            .adding("X-Resource", resource.path)
            .adding("Set-Cookie", "client=\(resource.client); Path=/\(resource.kind.rawValue)/\(resource.client)")
    }

    private static func answer(_ request: ServerRequest, _ resource: Resource) throws -> ServerResponse {
        switch resource.kind {
        case .plain: return .bytes(resource.body())
        case .gzip: return try .gzip(resource.body())
        case .close: return .stream(.untilClose) { try $0.write(resource.body()) }
        case .chunks: return .stream { try write(resource.body(), $0, pause: 0) }
        case .slow: return .stream { try write(resource.body(), $0, pause: 300_000) }
        case .moved302: return .redirect(to: resource.of(.plain).path)
        case .moved307: return .redirect(to: resource.of(.echo).path, status: 307)
        case .echo: return .bytes(request.body)
        case .login:
            let expected = "Basic " + Data("client\(resource.client):secret".utf8).base64EncodedString()
            guard request.fields[name: "authorization"] == expected else {
                return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"\(resource.client)\"")
            }
            return .bytes(resource.body())
        case .cached:
            let version = sim_time() / 1_000_000
            return ServerResponse.bytes(resource.body(version: version)).adding("X-Version", "\(version)")
                .adding("Cache-Control", "max-age=\(Int(greatestAge))")
        case .parts: return parts(request, resource)
        case .hostile: return ServerResponse(404)
        }
    }

    private static func write(_ body: [UInt8], _ writer: ResponseBodyWriter, pause: useconds_t) throws {
        var rest = body[...]
        while !rest.isEmpty {
            let piece = rest.prefix(1 + rest.count / 4)
            try writer.write(Array(piece))
            rest = rest.dropFirst(piece.count)
            if pause > 0 { usleep(pause) }
        }
    }

    private static func parts(_ request: ServerRequest, _ resource: Resource) -> ServerResponse {
        let body = resource.body()
        let range = request.fields[name: "range"].flatMap { field -> Int? in
            guard field.hasPrefix("bytes="), field.hasSuffix("-") else { return nil }
            return Int(field.dropFirst(6).dropLast())
        }
        guard let start = range, start < body.count,
            request.fields[name: "if-range"] ?? resource.entityTag == resource.entityTag
        else {
            return .bytes(body).adding("ETag", resource.entityTag).adding("Accept-Ranges", "bytes")
        }
        return .bytes(Array(body[start...]), status: 206).adding("ETag", resource.entityTag)
            .adding("Content-Range", "bytes \(start)-\(body.count - 1)/\(body.count)")
    }

    /// Notes a violation where a client sends another client's cookie or credential.
    private static func checkSender(_ request: ServerRequest, _ resource: Resource, _ ledger: Ledger) {
        if let cookie = request.fields[name: "cookie"], cookie != "client=\(resource.client)" {
            ledger.violation("\(resource) was asked for with the cookie \(cookie)")
        }
        let expected = "Basic " + Data("client\(resource.client):secret".utf8).base64EncodedString()
        if let login = request.fields[name: "authorization"], login != expected {
            ledger.violation("\(resource) was asked for with the credential \(login)")
        }
        if let other = request.fields[name: "x-client"], other != "\(resource.client)" {
            ledger.violation("\(resource) was asked for by client \(other)")
        }
    }
}
