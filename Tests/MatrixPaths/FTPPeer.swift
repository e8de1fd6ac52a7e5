import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives

/// A server of one file, which can be read and written; by TLS from the first byte where the trial says so.
final class FTPPeer: MatrixPeer {
    let openings = Recorder<Int>()
    private let commands = Recorder<String>()
    private let handshakes = Recorder<TLSFacts>()
    private let clients = Box(Clients())
    private let acceptor: ConnectionAcceptor

    init(_ trial: Trial) throws {
        let context = try trial.tlsOptions([]).map { try TLSServerContext($0) }
        let stopping = Signal()
        let port = Box<UInt16>(0)
        acceptor = try ConnectionAcceptor(.ipv4(), stopping: stopping) {
            [openings, commands, handshakes, clients] socket, number in
            openings.append(number)
            if trial.isSilent {
                stopping.waitBlocking()
                return
            }
            let session = FTPPeerSession(socket, context, stopping) { command in
                commands.append(command)
                clients.look(at: port.value)
            }
            try? session.run()
            if let facts = socket.tlsFacts { handshakes.append(facts) }
        }
        port.value = acceptor.address.port ?? 0
    }

    var port: UInt16 { acceptor.address.port ?? 0 }

    func begin() {}

    func observe(into observation: inout Observation) {
        observation.connections = openings.count
        observation.commands = commands.snapshot
        observation.handshakes = handshakes.snapshot
        (observation.sockets, observation.areOfThisProcess) = clients.found
    }

    func stop() { acceptor.stop() }
}

/// A control connection, on its thread.
private final class FTPPeerSession {
    private let socket: StreamSocket
    private let context: TLSServerContext?
    private let stopping: Signal
    private let note: @Sendable (String) -> Void
    private var unread: [UInt8] = []
    private var data: ConnectionAcceptor?
    /// What is sent over the data connection; nil to receive.
    private let content = Box<[UInt8]?>(nil)
    private var (go, done) = (Signal(), Signal())

    init(
        _ socket: StreamSocket, _ context: TLSServerContext?, _ stopping: Signal,
        _ note: @escaping @Sendable (String) -> Void
    ) {
        self.socket = socket
        self.context = context
        self.stopping = stopping
        self.note = note
    }

    func run() throws {
        defer {
            go.fire()
            data?.stop()
        }
        if let context { try socket.startTLS(context) }
        try send("220 ready")
        while let line = try readLine() {
            note(line)
            try answer(line.split(separator: " ").first.map { $0.uppercased() } ?? "")
        }
    }

    private func answer(_ command: String) throws {
        switch command {
        case "USER": try send("331 password?")
        case "PASS": try send("230 welcome")
        case "FEAT": try send("211-Features:\r\n SIZE\r\n MDTM\r\n REST STREAM\r\n EPSV\r\n211 End")
        case "SIZE": try send("213 5")
        case "MDTM": try send("213 20260131230509")
        case "PWD": try send("257 \"/\" is here")
        case "CWD", "TYPE", "OPTS", "NOOP", "PBSZ", "PROT": try send("200 fine")
        case "REST": try send("350 from there")
        case "EPSV": try openPort()
        case "RETR": try transfer(Array("hello".utf8))
        case "STOR", "APPE": try transfer(nil)
        case "QUIT": try send("221 bye")
        default: try send("500 what?")
        }
    }

    private func openPort() throws {
        data?.stop()
        let (go, done) = (Signal(), Signal())
        (self.go, self.done) = (go, done)
        let port = try ConnectionAcceptor(.ipv4(), limit: .init(connections: 1, overflow: .refuse)) {
            [content, context, stopping, note] socket, _ in
            defer { done.fire() }
            do {
                if let context { try socket.startTLS(context) }
                guard go.waitBlocking(interruptedBy: stopping) else { return }
                if let bytes = content.value {
                    try socket.write(bytes)
                } else {
                    var received: [UInt8] = []
                    while case let bytes = try socket.read(), !bytes.isEmpty { received += bytes }
                    note("received " + String(decoding: received, as: UTF8.self))
                }
            } catch {
                // The client has gone.
                return
            }
            socket.close()
        }
        data = port
        try send("229 here (|||\(port.address.port ?? 0)|)")
    }

    private func transfer(_ bytes: [UInt8]?) throws {
        content.value = bytes
        try send("150 it comes")
        go.fire()
        guard done.waitBlocking(interruptedBy: stopping) else { return }
        try send("226 done")
    }

    private func send(_ line: String) throws { try socket.write(Array((line + "\r\n").utf8)) }

    /// Nil at the connection's end.
    private func readLine() throws -> String? {
        while true {
            if let end = unread.firstIndex(of: 0x0A) {
                let line = unread[..<end]
                unread.removeSubrange(...end)
                return String(decoding: line.filter { $0 != 0x0D }, as: UTF8.self)
            }
            let bytes = try socket.read()
            guard !bytes.isEmpty else { return nil }
            unread += bytes
        }
    }
}
