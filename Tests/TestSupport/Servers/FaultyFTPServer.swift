import Foundation
import LoadingKitLoopbackServer

/// An FTP server in the test's process that does all well, but for its faults.
///
/// Each fault happens once, on the first connection that comes to it: what comes later finds a server without faults.
package final class FaultyFTPServer: Sendable {
    /// The server's fault.
    package struct Fault: Sendable, Hashable {
        /// The step at which it is done: a command's name, `greeting`, `end` for the reply after the data, or `lost`
        /// for that after an upload's data connection was reset.
        package var step: String
        package var act: Act

        package init(step: String, act: Act) {
            self.step = step
            self.act = act
        }
    }

    /// The wrong behaviour.
    package enum Act: Sendable, Hashable {
        /// Sends this, without an end of line of its own. A port is opened for `{port}`, or for `{high},{low}`.
        case reply(String)
        /// Sends this, and then what is right.
        case before(String)
        /// Does what is right, and then sends this.
        case after(String)
        /// Sends this over and over.
        case endless(String)
        /// Sends this, and ends the connection.
        case close(String)
        case reset
        /// From here on sends each byte alone.
        case byteByByte
        /// Waits for the test to end.
        case silence
        /// At EPSV or PASV: names a port at which nobody listens.
        case deadPort
        /// At RETR: says that all was sent, and then sends it.
        case endBeforeData
        /// At RETR: sends only this number of bytes of the file, and reports completion.
        case cutData(Int)
        /// At RETR: sends more than the file has.
        case moreData(Int)
        /// At RETR: resets the data connection after half of the file.
        case resetData
        /// At RETR: ends the control connection when the data was sent.
        case closeControlAfterData
        /// At RETR: ends the data connection without TLS's close_notify, after this number of bytes of the file.
        case dataWithoutNotify(Int)
        /// At STOR: resets the data connection after this number of bytes, and reports completion.
        case resetUpload(after: Int)
        /// At STOR: reports completion, and then receives the data. Sends a byte when it has this number of them.
        case endBeforeUpload(byteAfter: Int)
        /// At RETR: sends the data without TLS.
        case unprotectedData
    }

    /// How connections are protected.
    package struct TLS: Sendable {
        package var context: TLSServerContext
        /// Whether TLS begins with the connection, as for `ftps` URLs, and not with AUTH.
        package var isImplicit: Bool
        /// Whether the server refuses data connections that do not resume a TLS session.
        package var requiresResumption: Bool

        package init(_ context: TLSServerContext, isImplicit: Bool = false, requiresResumption: Bool = false) {
            (self.context, self.isImplicit) = (context, isImplicit)
            self.requiresResumption = requiresResumption
        }
    }

    /// The answer to a request for the file.
    package static let file = Array(String(repeating: "0123456789abcdef", count: 4096).utf8)

    package let stopping = Signal()
    private let faults: Box<[Fault]>
    private let recorder = Recorder<String>()
    private let lines = Recorder<String>()
    /// The numbers of the control connections that have ended.
    private let ended = Recorder<Int>()
    private let isImplicit: Bool
    /// Whether it has TLS, which its users can ask for.
    package let isProtected: Bool
    /// Whether it was made without faults.
    package let hadNoFaults: Bool
    private let acceptor: ConnectionAcceptor

    package init(_ faults: [Fault] = [], tls: TLS? = nil) throws {
        let remaining = Box(faults)
        self.faults = remaining
        (isImplicit, isProtected, hadNoFaults) = (tls?.isImplicit == true, tls != nil, faults.isEmpty)
        acceptor = try ConnectionAcceptor(.ipv4(), stopping: stopping) {
            [stopping, recorder, lines, ended] socket, number in
            let session = Session(socket, tls, stopping, note: { lines.append($0) }) { step in
                let act = remaining.update { faults in
                    faults.firstIndex { $0.step == step }.map { faults.remove(at: $0).act }
                }
                // A test that waits for the step may go on with another connection, which the fault is not for.
                recorder.append(step)
                return act
            }
            try? session.run()
            // The client has the end before the test is told of it.
            socket.close()
            ended.append(number)
        }
    }

    deinit { stop() }

    package func stop() { acceptor.stop() }

    /// The steps of all connections up to now.
    package var steps: [String] { recorder.snapshot }

    /// The commands of all connections up to now, whole.
    package var commands: [String] { lines.snapshot }

    /// Suspends until a step begins.
    package func step(_ name: String) async { _ = await recorder.contents { $0.contains(name) } }

    /// Suspends until one of these steps has begun, and returns it.
    package func step(of names: [String]) async -> String? {
        await recorder.contents { steps in names.contains { steps.contains($0) } }.first { names.contains($0) }
    }

    /// Suspends until this number of control connections have ended.
    package func awaitConnectionEnds(_ count: Int) async { _ = await ended.count(reaches: count) }

    /// Has further faults happen.
    package func add(_ more: [Fault]) { faults.update { $0 += more } }

    /// Whether all faults have happened.
    package var hasFailed: Bool { faults.value.isEmpty }

    package func url(_ path: String = "/file.txt") -> String {
        "\(isImplicit ? "ftps" : "ftp")://127.0.0.1:\(acceptor.address.port ?? 0)\(path)"
    }
}

/// A control connection, on its thread.
private final class Session {
    private struct Ended: Error {}

    private let socket: StreamSocket
    private let stopping: Signal
    private let note: (String) -> Void
    private let act: (String) -> FaultyFTPServer.Act?
    private var data: DataPort?
    private var offset = 0
    private var isByteByByte = false
    private let tls: FaultyFTPServer.TLS?
    private var protectsData = false

    init(
        _ socket: StreamSocket, _ tls: FaultyFTPServer.TLS?, _ stopping: Signal, note: @escaping (String) -> Void,
        _ act: @escaping (String) -> FaultyFTPServer.Act?
    ) {
        self.note = note
        self.socket = socket
        self.tls = tls
        self.stopping = stopping
        self.act = act
    }

    func run() throws {
        defer { data?.stop() }
        if let tls, tls.isImplicit { try socket.startTLS(tls.context) }
        try perform("greeting") { try send("220 ready\r\n") }
        while let line = try readLine() {
            note(tls == nil || socket.tlsFacts != nil ? line : "unprotected: \(line)")
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            let name = parts.first?.uppercased() ?? ""
            try perform(name) { try answer(name, parts.count > 1 ? parts[1] : "") }
        }
    }

    private func answer(_ name: String, _ argument: String, fault: FaultyFTPServer.Act? = nil) throws {
        switch name {
        case "AUTH" where tls != nil && argument == "TLS":
            try send("234 now\r\n")
            if let tls { try socket.startTLS(tls.context) }
        case "PBSZ": try send("200 fine\r\n")
        case "PROT" where tls != nil:
            protectsData = argument == "P"
            try send("200 fine\r\n")
        case "USER": try send("331 password?\r\n")
        case "PASS": try send("230 welcome\r\n")
        case "FEAT":
            try send(
                "211-Features:\r\n SIZE\r\n MDTM\r\n REST STREAM\r\n EPSV\r\n UTF8\r\n MLST type*;size*;\r\n211 End\r\n"
            )
        case "SIZE": try send("213 \(FaultyFTPServer.file.count)\r\n")
        case "MDTM": try send("213 20260131230509\r\n")
        case "PWD": try send("257 \"/home\" is here\r\n")
        case "CWD", "TYPE", "OPTS", "NOOP": try send("200 fine\r\n")
        case "MKD": try send("257 \"\(argument)\" made\r\n")
        case "REST":
            offset = Int(argument) ?? 0
            try send("350 from there\r\n")
        case "EPSV": try send("229 here (|||\(try openPort())|)\r\n")
        case "PASV":
            let port = try openPort()
            try send("227 here (127,0,0,1,\(port >> 8),\(port & 255))\r\n")
        case "RETR": try transfer(Array(FaultyFTPServer.file.dropFirst(offset)), fault)
        case "MLSD": try transfer(Array("type=file;size=5; a file\r\ntype=dir; folder\r\n".utf8), fault)
        case "LIST": try transfer(Array("-rw-r--r-- 1 a b 5 Jan 31  2026 a file\r\n".utf8), fault)
        case "STOR", "APPE": try transfer(nil, fault)
        case "QUIT":
            try send("221 bye\r\n")
            throw Ended()
        default: try send("500 what?\r\n")
        }
    }

    /// - Parameter bytes: nil to receive.
    private func transfer(_ bytes: [UInt8]?, _ fault: FaultyFTPServer.Act?) throws {
        guard let data else { return try send("425 no EPSV before\r\n") }
        defer {
            self.data = nil
            offset = 0
        }
        try send("150 it comes\r\n")
        let isEarly =
            switch fault {
            case .endBeforeData?, .endBeforeUpload?: true
            default: false
            }
        if isEarly { try send("226 done\r\n") }
        let tls = protectsData && fault != .unprotectedData ? tls : nil
        switch fault {
        case .cutData(let count)?: data.serve(bytes.map { Array($0.prefix(count)) }, tls)
        case .moreData(let count)?: data.serve(bytes.map { $0 + [UInt8](repeating: 0x2B, count: count) }, tls)
        case .resetData?: data.serve(bytes.map { Array($0.prefix($0.count / 2)) }, tls, ending: .reset)
        case .resetUpload(let count)?: data.receive(count, tls)
        case .endBeforeUpload(let count)?: data.receive(sendingByteAfter: count, tls)
        case .dataWithoutNotify(let count)?:
            data.serve(bytes.map { Array($0.prefix(count)) }, tls, ending: .withoutNotify)
        default: data.serve(bytes, tls)
        }
        guard data.done.waitBlocking(interruptedBy: stopping) else { throw Ended() }
        data.stop()
        if data.isRefused { return try send("522 TLS has to be resumed\r\n") }
        if data.isLost { return try perform("lost") { try send("426 the data connection is lost\r\n") } }
        if fault == .closeControlAfterData { throw Ended() }
        if !isEarly { try perform("end") { try send("226 done\r\n") } }
    }

    private func openPort() throws -> UInt16 {
        data?.stop()
        let port = try DataPort(stopping: stopping)
        data = port
        return port.port
    }

    // MARK: The fault

    private func perform(_ step: String, _ usual: () throws -> Void) throws {
        guard let act = act(step) else { return try usual() }
        switch act {
        case .reply(let text):
            guard text.contains("{") else { return try send(text) }
            let port = try openPort()
            try send(
                text.replacing("{port}", with: "\(port)").replacing("{high}", with: "\(port >> 8)")
                    .replacing("{low}", with: "\(port & 255)"))
        case .before(let text):
            try send(text)
            try usual()
        case .after(let text):
            try usual()
            try send(text)
        case .endless(let text): while true { try send(text) }
        case .close(let text):
            try send(text)
            throw Ended()
        case .reset:
            socket.reset()
            throw Ended()
        case .byteByByte:
            isByteByByte = true
            try usual()
        case .silence:
            stopping.waitBlocking()
            throw Ended()
        case .deadPort:
            let dead = try RefusingPort.keepOne()
            try send(
                step == "EPSV"
                    ? "229 here (|||\(dead)|)\r\n" : "227 here (127,0,0,1,\(dead >> 8),\(dead & 255))\r\n")
        case .endBeforeData, .cutData, .moreData, .resetData, .closeControlAfterData, .dataWithoutNotify,
            .resetUpload, .endBeforeUpload, .unprotectedData:
            try answer(step, "", fault: act)
        }
    }

    private func send(_ text: String) throws {
        guard isByteByByte else { return try socket.write(Array(text.utf8)) }
        for byte in text.utf8 { try socket.write([byte]) }
    }

    private var unread: [UInt8] = []

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

/// A port for one data connection, which waits until it is told what to send.
private final class DataPort: Sendable {
    private struct Work {
        /// Nil to receive.
        var bytes: [UInt8]?
        /// The number of bytes to receive before the ending.
        var count = Int.max
        /// The number of bytes to receive before a byte is sent.
        var byteAfter: Int?
        var tls: FaultyFTPServer.TLS?
        var ending = Ending.close
    }

    enum Ending { case close, reset, withoutNotify }

    let done = Signal()
    private let go = Signal()
    private let work = Box(Work())
    private let isRefusing = Box(false)
    private let hasLost = Box(false)
    private let acceptor: ConnectionAcceptor

    init(stopping: Signal) throws {
        acceptor = try ConnectionAcceptor(.ipv4(), limit: .init(connections: 1, overflow: .refuse)) {
            [go, done, work, isRefusing, hasLost] socket, _ in
            defer { done.fire() }
            guard go.waitBlocking(interruptedBy: stopping) else { return }
            // An upload is lost until its end has come: its connection may be reset before the handshake has ended, too.
            hasLost.value = work.value.bytes == nil
            do {
                if let tls = work.value.tls {
                    try socket.startTLS(tls.context)
                    isRefusing.value = tls.requiresResumption && socket.tlsFacts?.isResumed != true
                    if isRefusing.value { return }
                }
                if let bytes = work.value.bytes {
                    try socket.write(bytes)
                } else {
                    var rest = work.value.count
                    var untilByte = work.value.byteAfter
                    while rest > 0 {
                        let received = try socket.read(atMost: min(rest, 16_384)).count
                        guard received > 0 else { break }
                        rest -= received
                        guard let missing = untilByte else { continue }
                        untilByte = missing > received ? missing - received : nil
                        if untilByte == nil { try socket.write([0]) }
                    }
                    // TLS tells an end from a loss by close_notify.
                    hasLost.value = rest > 0 && work.value.tls != nil && !socket.receivedCloseNotify
                    if rest > 0 { return }
                }
                switch work.value.ending {
                case .close: break
                case .reset: socket.reset()
                case .withoutNotify: socket.closeWithoutNotify()
                }
            } catch {
                // The client has gone.
                return
            }
            // Before it is told that it is done, as a server closes first (RFC 959 §3.2).
            socket.close()
        }
    }

    var port: UInt16 { acceptor.address.port ?? 0 }

    /// Whether the data connection was refused, because it did not resume a TLS session.
    var isRefused: Bool { isRefusing.value }

    /// Whether an upload's data connection has ended with an error, and not with the end of the file.
    var isLost: Bool { hasLost.value }

    func serve(_ bytes: [UInt8]?, _ tls: FaultyFTPServer.TLS?, ending: Ending = .close) {
        work.value = Work(bytes: bytes, tls: tls, ending: ending)
        go.fire()
    }

    /// Resets the connection after this number of bytes.
    func receive(_ count: Int, _ tls: FaultyFTPServer.TLS?) {
        work.value = Work(count: count, tls: tls, ending: .reset)
        go.fire()
    }

    /// Sends a byte after this number of bytes, and receives the rest.
    func receive(sendingByteAfter count: Int, _ tls: FaultyFTPServer.TLS?) {
        work.value = Work(byteAfter: count, tls: tls)
        go.fire()
    }

    func stop() {
        go.fire()
        acceptor.stop()
    }
}
