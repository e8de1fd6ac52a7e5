import LoadingKitLoopbackServer

/// A proxy that connects to this machine only: for any name that a client requests, it connects to the port on 127.0.0.1.
/// It records the destinations, so that a test sees that a client has used it: no client can reach a name that does not
/// exist without it.
package final class RelayProxy: Sendable {
    /// The proxy's protocol.
    package enum Kind: String, Sendable, CaseIterable {
        case http, https, socks4, socks5

        /// Whether the proxy gets `http` requests in absolute form.
        package var speaksHTTP: Bool {
            switch self {
            case .http, .https: true
            case .socks4, .socks5: false
            }
        }
    }

    private enum Listener: Sendable {
        case http(LoopbackServer)
        case bytes(ConnectionAcceptor)
    }

    package let kind: Kind
    private let listener: Listener
    private let asked: Recorder<String>

    /// The requested destinations, as `host:port`; the whole URL of a request in absolute form, which the proxy answers with
    /// the text `forwarded`.
    package var destinations: [String] { asked.snapshot }

    package var port: UInt16 {
        switch listener {
        case .http(let server): server.address.port ?? 0
        case .bytes(let acceptor): acceptor.address.port ?? 0
        }
    }

    /// As an environment names it.
    package var url: String {
        switch kind {
        case .http: "http://127.0.0.1:\(port)"
        case .https: "https://localhost:\(port)"
        case .socks4: "socks4a://127.0.0.1:\(port)"
        case .socks5: "socks5h://127.0.0.1:\(port)"
        }
    }

    /// - Parameters:
    ///   - identity: of an `https` proxy.
    ///   - credential: the only credential that an HTTP proxy accepts: the value of `Proxy-Authorization`.
    package init(_ kind: Kind, tls identity: ServerIdentity? = nil, credential: String? = nil) throws {
        self.kind = kind
        let asked = Recorder<String>()
        self.asked = asked
        guard kind.speaksHTTP else {
            listener = .bytes(
                try ConnectionAcceptor(.ipv4()) { client, _ in
                    _ = try? Self.serve(client, kind) { asked.append($0) }
                })
            return
        }
        let options = LoopbackServer.Options(tls: identity.map { TLSServerOptions($0) })
        listener = .http(
            try LoopbackServer(options) { request in
                if let credential, request.fields[name: "Proxy-Authorization"] != credential {
                    return ServerResponse.text("who are you?", status: 407)
                        .adding("Proxy-Authenticate", "Basic realm=\"relay\"")
                }
                asked.append(request.target)
                guard request.method == "CONNECT" else { return .text("forwarded") }
                let server = try Self.connect(to: request.target)
                return ServerResponse(body: .takeOver { client in try Self.relay(client, server) })
            })
    }

    deinit { stop() }

    package func stop() {
        switch listener {
        case .http(let server): server.stop()
        case .bytes(let acceptor): acceptor.stop()
        }
    }

    private static func connect(to destination: String) throws -> StreamSocket {
        let port = destination.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        return try StreamSocket(connectingTo: .ipv4(port: port))
    }

    // MARK: Other protocols than HTTP

    private struct Misspoken: Error {}

    private static func serve(_ client: StreamSocket, _ kind: Kind, _ note: (String) -> Void) throws {
        let destination: String
        let answer: [UInt8]
        switch kind {
        case .http, .https: return
        case .socks4: (destination, answer) = (try version4(client), [0, 90] + address)
        case .socks5: (destination, answer) = (try version5(client), [5, 0, 0, 1] + address)
        }
        note(destination)
        let server = try connect(to: destination)
        try client.write(answer)
        try relay(client, server)
    }

    /// An address and a port that clients ignore.
    private static let address: [UInt8] = [0, 0, 0, 0, 0, 0]

    private static func version5(_ client: StreamSocket) throws -> String {
        let greeting = try take(2, client)
        guard greeting[0] == 5, try take(Int(greeting[1]), client).contains(0) else { throw Misspoken() }
        try client.write([5, 0])
        let request = try take(4, client)
        let host: String
        switch request[3] {
        case 1: host = try take(4, client).map(String.init).joined(separator: ".")
        case 3: host = String(decoding: try take(Int(try take(1, client)[0]), client), as: UTF8.self)
        case _: throw Misspoken()
        }
        return "\(host):\(try port(client))"
    }

    private static func version4(_ client: StreamSocket) throws -> String {
        guard try take(2, client) == [4, 1] else { throw Misspoken() }
        let port = try port(client)
        let address = try take(4, client)
        _ = try text(client)
        let isName = address.prefix(3) == [0, 0, 0]
        return "\(isName ? try text(client) : address.map(String.init).joined(separator: ".")):\(port)"
    }

    private static func port(_ client: StreamSocket) throws -> Int {
        let bytes = try take(2, client)
        return Int(bytes[0]) << 8 | Int(bytes[1])
    }

    private static func text(_ client: StreamSocket) throws -> String {
        var bytes: [UInt8] = []
        while let byte = try take(1, client).first, byte != 0 { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func take(_ count: Int, _ client: StreamSocket) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try client.read(atMost: count - bytes.count)
            guard !more.isEmpty else { throw Misspoken() }
            bytes += more
        }
        return bytes
    }

    // MARK: Bytes

    /// In one thread, as TLS may be on the client's connection.
    private static func relay(_ client: StreamSocket, _ server: StreamSocket) throws {
        defer { server.close() }
        var (clientIsOpen, serverIsOpen) = (true, true)
        while clientIsOpen && serverIsOpen {
            let ready = try StreamSocket.waitUntilReadable(client, server)
            if ready.0 { clientIsOpen = try pass(from: client, to: server) }
            if ready.1 { serverIsOpen = try pass(from: server, to: client) }
        }
        while clientIsOpen { clientIsOpen = try pass(from: client, to: server) }
        while serverIsOpen { serverIsOpen = try pass(from: server, to: client) }
    }

    private static func pass(from source: StreamSocket, to target: StreamSocket) throws -> Bool {
        let bytes = try source.read()
        if bytes.isEmpty { target.halfClose() } else { try target.write(bytes) }
        return !bytes.isEmpty
    }
}
