import CSimulatedSystem
import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
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
    /// Its certificate is of an authority that no session trusts.
    private let distrusted: LoopbackServer
    let hostile: HostileServer
    /// Only in worlds.
    private let hostileHTTP2: HostileHTTP2Server?
    let files: FaultyFTPServer
    /// Only in worlds.
    private let protectedFiles: FaultyFTPServer?
    let uploads: StoringFTPServer
    /// Only in worlds.
    private let protectedUploads: StoringFTPServer?
    private let proxy: RelayProxy
    private let socks: RelayProxy
    let certificate: String

    var all: [LoopbackServer] { [plain, secure, http2] }

    /// On a thread whose calls, and those of the threads that it creates, do not fail on purpose.
    static func make(_ ledger: Ledger, isWorld: Bool = false) async throws -> Servers {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                sim_belong_to_server()
                continuation.resume(with: Result { try Servers(ledger, isWorld) })
            }
        }
    }

    private init(_ ledger: Ledger, _ isWorld: Bool) throws {
        let authority = try CertificateAuthority()
        certificate = authority.certificatePEM
        let identity = try authority.issue()
        let elsewhere = Elsewhere()
        func server(_ tls: TLSServerOptions?, _ other: Int = 0) throws -> LoopbackServer {
            var options = LoopbackServer.Options(tls: tls)
            options.recordsRequests = false
            let connections = Connections()
            let server = try LoopbackServer(options) { request in
                try Self.answer(request, { elsewhere.url($0, other) }, connections, ledger)
            }
            connections.endings.withLock { [endings = server.endings] in $0 = endings }
            return server
        }
        plain = try server(nil)
        secure = try server(TLSServerOptions(identity), 1)
        http2 = try server(TLSServerOptions(identity, applicationProtocols: ["h2", "http/1.1"]))
        distrusted = try server(TLSServerOptions(try CertificateAuthority().issue()))
        hostile = try HostileServer()
        files = try FaultyFTPServer(Self.faultsOfFTP())
        elsewhere.urls.withLock { [secure, http2] in $0 = [secure.url(""), http2.url("")] }
        sim_add_name(Self.name, "::1,127.0.0.1", sim_random(2_000_000))
        proxy = try RelayProxy(.http)
        socks = try RelayProxy(.socks5)
        hostileHTTP2 = isWorld ? try HostileHTTP2Server(identity, ledger) : nil
        protectedFiles =
            isWorld ? try FaultyFTPServer(Self.faultsOfFTP(hasTLS: true), tls: Self.tlsOfFTP(identity)) : nil
        uploads = try StoringFTPServer()
        protectedUploads = isWorld ? try StoringFTPServer(tls: Self.tlsOfFTP(identity)) : nil
    }

    /// Resumes TLS sessions for data connections, insists on it, or cannot.
    private static func tlsOfFTP(_ identity: ServerIdentity) throws -> FaultyFTPServer.TLS {
        var options = TLSServerOptions(identity, applicationProtocols: [])
        options.allowsResumption = sim_random(3) != 0
        if sim_random(2) == 0 { options.maximumVersion = .v1_2 }
        return FaultyFTPServer.TLS(
            try TLSServerContext(options), isImplicit: sim_random(3) == 0,
            requiresResumption: options.allowsResumption && sim_random(2) == 0)
    }

    func stop() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                for server in all + [distrusted] { server.stop() }
                hostile.stop()
                hostileHTTP2?.stop()
                for server in [files, protectedFiles].compactMap({ $0 }) {
                    server.stopping.fire()
                    server.stop()
                }
                uploads.stop()
                protectedUploads?.stop()
                proxy.stop()
                socks.stop()
                continuation.resume()
            }
        }
    }

    /// What an ftp server does wrong, each once: nothing that a client could take for good.
    private static func faultsOfFTP(hasTLS: Bool = false) -> [FaultyFTPServer.Fault] {
        var steps = ["greeting", "USER", "PASS", "TYPE", "EPSV", "SIZE", "RETR", "end"]
        var actsOnData: [FaultyFTPServer.Act] = [
            .moreData(1), .moreData(70_000), .cutData(1000), .resetData, .closeControlAfterData,
        ]
        var acts: [FaultyFTPServer.Act] = [
            .reset, .byteByByte, .silence, .close("421 Bye\r\n"), .reply("500 What?\r\n"),
            .reply("nonsense"),
            .after("nonsense\r\n"),
        ]
        if hasTLS {
            steps += ["AUTH", "PBSZ", "PROT"]
            actsOnData += [.dataWithoutNotify(.max), .dataWithoutNotify(1000), .unprotectedData]
            // Some of what follows the answer to AUTH is not protected.
            acts.append(.reply("234 Now\r\n230 You are in\r\n"))
        }
        let faults = (0..<Int(sim_random(4))).map { _ in
            if sim_random(3) == 0 {
                return FaultyFTPServer.Fault(step: "RETR", act: actsOnData[Int(sim_random(UInt64(actsOnData.count)))])
            }
            return FaultyFTPServer.Fault(
                step: steps[Int(sim_random(UInt64(steps.count)))], act: acts[Int(sim_random(UInt64(acts.count)))])
        }
        // A client that has not been told the size cannot know that there is more, or less.
        guard faults.contains(where: { $0.step == "SIZE" }) else { return faults }
        return faults.filter { ![.moreData(1), .moreData(70_000), .cutData(1000)].contains($0.act) }
    }

    /// Commands without TLS at a server whose users want TLS.
    var unprotectedCommands: [String] {
        (protectedFiles?.commands ?? []).filter { line in
            ["USER", "PASS", "RETR"].contains { line.hasPrefix("unprotected: \($0)") }
        } + (protectedUploads?.unprotectedCommands ?? [])
    }

    /// The ftp server for a resource's load.
    func files(for resource: Resource) -> FaultyFTPServer {
        guard let protectedFiles, resource.number >> 33 % 2 == 0 else { return files }
        return protectedFiles
    }

    /// The ftp server for an upload.
    func uploads(for resource: Resource) -> StoringFTPServer {
        guard let protectedUploads, resource.number >> 33 % 2 == 0 else { return uploads }
        return protectedUploads
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
        Self.url(server.url(resource.path))
    }

    private static func url(_ text: String) -> URL {
        guard let url = URL(string: text) else { preconditionFailure(text) }
        return url
    }

    /// The URL at one of the servers that have such resources.
    func url(_ resource: Resource) -> URL {
        if let hostileHTTP2, resource.kind == .hostileHTTP2 { return Self.url(hostileHTTP2.url(resource)) }
        let server = resource.kind == .distrusted ? distrusted : all[Int(sim_random(UInt64(all.count)))]
        let text =
            resource.kind == .hostile
            ? "http://127.0.0.1:\(hostile.acceptor.address.port ?? 0)\(resource.path)"
            : server.url(resource.path, host: server.usesTLS || sim_random(2) == 0 ? nil : Self.name)
        return Self.url(text)
    }

    /// The value of `Authorization` for a client.
    static func login(of client: Int) -> String {
        "Basic " + Data("client\(client):secret".utf8).base64EncodedString()
    }

    // MARK: Answers

    /// The servers that redirects lead to, which are made after the first of those that redirect.
    private final class Elsewhere: Sendable {
        /// The servers' URLs, with no path.
        let urls = Guarded<[String]>([])

        func url(_ resource: Resource, _ number: Int) -> String {
            urls.withLock { $0[number] } + resource.of(.guest).path
        }
    }

    /// The connections of a server, which is made after the function that answers its requests.
    private final class Connections: Sendable {
        let endings = Guarded<Recorder<Int>?>(nil)

        func has(_ number: Int) -> Bool { endings.withLock { $0 }?.snapshot.contains(number) == false }
    }

    /// - Parameter elsewhere: the URL of a resource at another server.
    private static func answer(
        _ request: ServerRequest, _ elsewhere: (Resource) -> String, _ connections: Connections, _ ledger: Ledger
    ) throws -> ServerResponse {
        let resource = Resource(path: request.path)
        if request.fields[name: "upgrade"] == "websocket" || request.connectProtocol == "websocket" {
            guard let resource, resource.kind == .talk else { return .webSocket(request) { try $0.echo() } }
            return .webSocket(request) { try talk(resource, $0) }
        }
        guard let resource else { return .text("no such resource", status: 404) }
        sim_trace("\(request.method) \(resource) on the server's connection \(request.connection)")
        checkSender(request.fields, resource, ledger)
        if resource.kind == .echo {
            let repeats = request.fields[name: "x-repeats"].flatMap { Int($0) } ?? 0
            ledger.actsUpon(resource.number, repeats: repeats) { [number = request.connection] in
                connections.has(number)
            }
        }
        if resource.kind == .elsewhere { return .redirect(to: elsewhere(resource)) }
        return try answer(request, resource)
            .adding("X-Resource", resource.path)
            .adding("Set-Cookie", "client=\(resource.client); Path=/\(resource.kind.rawValue)/\(resource.client)")
    }

    private static func answer(_ request: ServerRequest, _ resource: Resource) throws -> ServerResponse {
        switch resource.kind {
        case .plain, .guest, .distrusted: return .bytes(resource.body())
        case .gzip: return try .gzip(resource.body())
        case .close: return .stream(.untilClose) { try $0.write(resource.body()) }
        case .chunks: return .stream { try write(resource.body(), $0, pause: 0) }
        // Some seconds in all: an HTTP/2 connection of this server reads nothing meanwhile, not even a PING.
        case .slow: return .stream { try write(resource.body(), $0, pause: 100_000) }
        case .moved302: return .redirect(to: resource.of(.plain).path)
        case .moved307: return .redirect(to: resource.of(.echo).path, status: 307)
        case .echo:
            // The request has its effect some time before its answer.
            usleep(useconds_t(resource.number % 4) * 200_000)
            return .bytes(request.body)
        case .login:
            guard request.fields[name: "authorization"] == login(of: resource.client) else {
                return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"\(resource.client)\"")
            }
            return .bytes(resource.body())
        case .cached:
            let version = sim_time() / 1_000_000
            return ServerResponse.bytes(resource.body(version: version)).adding("X-Version", "\(version)")
                .adding("Cache-Control", "max-age=\(Int(greatestAge))")
        case .personal: return personal(request, resource)
        case .parts: return try parts(request, resource)
        case .changing: return changing(request, resource)
        case .elsewhere, .talk, .hostile, .hostileHTTP2: return ServerResponse(404)
        }
    }

    private static func talk(_ resource: Resource, _ socket: ServerWebSocket) throws {
        for index in 0..<Resource.talkCount { try socket.send(resource.message(index)) }
        try socket.close(.normalClosure)
        while try socket.receive() != nil {}
    }

    private static func personal(_ request: ServerRequest, _ resource: Resource) -> ServerResponse {
        let who = request.fields[name: resource.isByLanguage ? "accept-language" : "authorization"] ?? ""
        let response = ServerResponse.bytes(resource.body()).adding("X-Who", who)
            .adding("Cache-Control", "max-age=\(Int(greatestAge))")
        return resource.isByLanguage ? response.adding("Vary", "Accept-Language") : response
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

    private static func changing(_ request: ServerRequest, _ resource: Resource) -> ServerResponse {
        let version = resource.currentVersion
        let (body, tag) = (resource.body(version: version), "\"\(resource.number)-\(version)\"")
        func answer(_ response: ServerResponse) -> ServerResponse {
            response.adding("ETag", tag).adding("X-Version", "\(version)").adding("Accept-Ranges", "bytes")
        }
        guard let start = rangeStart(request), start < body.count,
            resource.ignoresIfRange || request.fields[name: "if-range"] ?? tag == tag
        else { return answer(slowly(body)) }
        return answer(slowly(Array(body[start...]), status: 206))
            .adding("Content-Range", "bytes \(start)-\(body.count - 1)/\(body.count)")
    }

    /// So that a download is cancelled amid its body.
    private static func slowly(_ body: [UInt8], status: Int = 200) -> ServerResponse {
        var response = ServerResponse.stream(.length(UInt64(body.count))) { try write(body, $0, pause: 50_000) }
        response.status = status
        return response
    }

    private static func rangeStart(_ request: ServerRequest) -> Int? {
        request.fields[name: "range"].flatMap { field in
            guard field.hasPrefix("bytes="), field.hasSuffix("-") else { return nil }
            return Int(field.dropFirst(6).dropLast())
        }
    }

    /// Of a third, the body is compressed for clients that can read that, with a tag of its own. Of another third, only parts are
    /// those of the compressed body, with the same tag: no client can make use of them.
    private static func parts(_ request: ServerRequest, _ resource: Resource) throws -> ServerResponse {
        let acceptsGzip = request.fields[name: "accept-encoding"]?.contains("gzip") == true
        let isCoded = resource.number % 3 == 0 && acceptsGzip
        let body = isCoded ? try Gzip.compress(resource.body()) : resource.body()
        let tag = resource.entityTag(isCoded: isCoded)
        func answer(_ response: ServerResponse) -> ServerResponse {
            let response = response.adding("ETag", tag).adding("Vary", "Accept-Encoding")
            return isCoded ? response.adding("Content-Encoding", "gzip") : response
        }
        guard let start = rangeStart(request), start < body.count,
            request.fields[name: "if-range"] ?? tag == tag
        else { return answer(.bytes(body).adding("Accept-Ranges", "bytes")) }
        let isPartCoded = resource.number % 3 == 1 && acceptsGzip
        let whole = isPartCoded ? try Gzip.compress(body) : body
        let part = answer(.bytes(Array(whole[start...]), status: 206))
            .adding("Content-Range", "bytes \(start)-\(whole.count - 1)/\(whole.count)")
        return isPartCoded ? part.adding("Content-Encoding", "gzip") : part
    }

    /// Notes a violation where a client sends another client's cookie or credential.
    static func checkSender(_ fields: HTTPFields, _ resource: Resource, _ ledger: Ledger) {
        if let cookie = fields[name: "cookie"], cookie != "client=\(resource.client)" {
            ledger.violation("\(resource) was asked for with the cookie \(cookie)")
        }
        let login = fields[name: "authorization"]
        if resource.kind == .guest, let login { ledger.violation("\(resource): another server got \(login)") }
        if [.parts, .changing].contains(resource.kind), fields[name: "x-own"] != "own" {
            ledger.violation("\(resource) was asked for without the request's own field")
        }
        if let login, login != Self.login(of: resource.client), resource.kind != .personal {
            ledger.violation("\(resource) was asked for with the credential \(login)")
        }
        if let other = fields[name: "x-client"], other != "\(resource.client)" {
            ledger.violation("\(resource) was asked for by client \(other)")
        }
    }
}
