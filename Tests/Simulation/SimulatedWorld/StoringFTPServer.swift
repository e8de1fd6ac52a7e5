import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport

/// An ftp server that stores what is uploaded to it. The path of an upload says whose it is, and what it does with it.
final class StoringFTPServer: Sendable {
    /// The truth about one upload.
    struct Upload: Sendable {
        /// What the server has of it.
        var bytes: [UInt8] = []
        /// How many commands have asked for it.
        var commandCount = 0
        /// How many data connections have brought bytes of it.
        var transferCount = 0
        /// Whether the server has said that it has all.
        var isConfirmed = false
    }

    let isProtected: Bool
    private let isImplicit: Bool
    private let stopping = Signal()
    private let store: Store
    private let acceptor: ConnectionAcceptor

    init(tls: FaultyFTPServer.TLS? = nil) throws {
        let store = Store()
        (isProtected, isImplicit, self.store) = (tls != nil, tls?.isImplicit == true, store)
        acceptor = try ConnectionAcceptor(.ipv4(), stopping: stopping) { [stopping] socket, _ in
            try? StoringFTPConnection(socket, tls, store, stopping).run()
        }
    }

    func stop() {
        stopping.fire()
        acceptor.stop()
    }

    func url(_ resource: Resource) -> URL? {
        URL(string: "\(isImplicit ? "ftps" : "ftp")://127.0.0.1:\(acceptor.address.port ?? 0)\(resource.path)")
    }

    func upload(_ resource: Resource) -> Upload { store.upload(resource.path) }

    /// Commands that came without TLS where users want TLS.
    var unprotectedCommands: [String] { isProtected ? store.unprotectedCommands : [] }

    /// What the connections of a server share.
    final class Store: Sendable {
        private struct State {
            var uploads: [String: Upload] = [:]
            var folders: Set<String> = ["/"]
            var unprotectedCommands: [String] = []
        }

        private let state = Guarded(State())

        var unprotectedCommands: [String] { state.withLock { $0.unprotectedCommands } }
        func noteUnprotected(_ command: String) { state.withLock { $0.unprotectedCommands.append(command) } }
        func hasFolder(_ path: String) -> Bool { state.withLock { $0.folders.contains(path) } }
        func makeFolder(_ path: String) -> Bool { state.withLock { $0.folders.insert(path).inserted } }
        func upload(_ path: String) -> Upload { state.withLock { $0.uploads[path] ?? Upload() } }

        func change(_ path: String, _ body: (inout Upload) -> Void) {
            state.withLock { body(&$0.uploads[path, default: Upload()]) }
        }
    }
}

/// What a server does with an upload.
enum StoringAct: UInt64, CaseIterable, Sendable {
    /// Two preliminary replies, another completion reply, a reply of several lines, and an end of the data connection without
    /// TLS's close_notify: all is stored.
    case twoPreliminary, otherCompletion, manyLines, withoutNotify
    /// Says that it has all before it has.
    case early
    /// Refuses the command.
    case refusal550, refusal553, refusal452
    /// Has no more room amid the transfer, and reads no more.
    case full
    /// Ends the data connection amid the transfer, in a proper way or not, and says so, or falls silent.
    case endsData, resetsData, endsDataInSilence, endsDataWithoutNotify
    /// Ends the control connection before the transfer, amid it, or after the last byte.
    case endsBefore, endsAmid, endsAfterData, resetsAfterData
    /// As `endsBefore`, once.
    case endsBeforeOnce

    /// Nil where all is well.
    init?(_ resource: Resource) {
        guard resource.number % 2 == 1 else { return nil }
        self = Self.allCases[Int(resource.number / 2 % UInt64(Self.allCases.count))]
    }

    /// Whether an upload must succeed that nothing disturbs.
    var isGood: Bool { rawValue <= Self.early.rawValue }

    /// Whether the server may store all, and say so.
    var mayStore: Bool { isGood || self == .endsBeforeOnce }

    /// Whether it happens amid the transfer.
    var isAmid: Bool {
        [.full, .endsData, .resetsData, .endsDataInSilence, .endsDataWithoutNotify, .endsAmid].contains(self)
    }
}

/// A control connection, on its thread.
private final class StoringFTPConnection: Sendable {
    private struct Ended: Error {}

    private let socket: StreamSocket
    private let tls: FaultyFTPServer.TLS?
    private let store: StoringFTPServer.Store
    private let stopping: Signal
    private let state = Guarded(State())

    private struct State {
        var folder = "/"
        var offset = 0
        var protectsData = false
        var unread: [UInt8] = []
        var data: StoringFTPPort?
    }

    init(_ socket: StreamSocket, _ tls: FaultyFTPServer.TLS?, _ store: StoringFTPServer.Store, _ stopping: Signal) {
        (self.socket, self.tls, self.store, self.stopping) = (socket, tls, store, stopping)
    }

    func run() throws {
        defer { state.withLock { $0.data.take() }?.stop() }
        if let tls, tls.isImplicit { try socket.startTLS(tls.context) }
        try send("220 ready")
        while let line = try readLine() {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            let name = parts.first?.uppercased() ?? ""
            if tls != nil, socket.tlsFacts == nil, ["USER", "PASS", "STOR", "APPE"].contains(name) {
                store.noteUnprotected(line)
            }
            try answer(name, parts.count > 1 ? parts[1] : "")
        }
    }

    private func answer(_ name: String, _ argument: String) throws {
        switch name {
        case "AUTH" where tls != nil:
            try send("234 now")
            if let tls { try socket.startTLS(tls.context) }
        case "PROT" where tls != nil:
            state.withLock { $0.protectsData = argument == "P" }
            try send("200 fine")
        case "USER": try send("331 password?")
        case "PASS": try send("230 welcome")
        case "FEAT": try send("211-Features:\r\n SIZE\r\n REST STREAM\r\n EPSV\r\n UTF8\r\n211 End")
        case "PWD": try send("257 \"/\" is here")
        case "PBSZ", "TYPE", "OPTS": try send("200 fine")
        case "CWD": try send(enter(path(argument)) ? "250 fine" : "550 no such folder")
        case "MKD": try send(store.makeFolder(path(argument)) ? "257 \"\(argument)\" made" : "550 is there")
        case "REST":
            state.withLock { $0.offset = Int(argument) ?? 0 }
            try send("350 from there")
        case "EPSV": try send("229 here (|||\(try openPort())|)")
        case "PASV":
            let port = try openPort()
            try send("227 here (127,0,0,1,\(port >> 8),\(port & 255))")
        case "STOR", "APPE": try receive(path(argument), appends: name == "APPE")
        case "QUIT":
            try send("221 bye")
            throw Ended()
        default: try send("500 what?")
        }
    }

    private func path(_ argument: String) -> String {
        if argument.hasPrefix("/") { return argument }
        let folder = state.withLock { $0.folder }
        return folder == "/" ? "/" + argument : folder + "/" + argument
    }

    private func enter(_ folder: String) -> Bool {
        guard store.hasFolder(folder) else { return false }
        state.withLock { $0.folder = folder }
        return true
    }

    private func openPort() throws -> UInt16 {
        let port = try StoringFTPPort(stopping)
        state.withLock { state in
            defer { state.data = port }
            return state.data
        }?.stop()
        return port.number
    }

    // MARK: Uploads

    private func receive(_ path: String, appends: Bool) throws {
        let (port, offset) = state.withLock { state in
            defer { state.offset = 0 }
            return (state.data.take(), state.offset)
        }
        guard let port, let resource = Resource(path: path) else { return try send("425 no EPSV before") }
        defer { port.stop() }
        let act = StoringAct(resource)
        store.change(path) { $0.commandCount += 1 }
        switch act {
        case .refusal550: return try send("550 no")
        case .refusal553: return try send("553 no such name")
        case .refusal452: return try send("452 full")
        case .endsBefore: throw Ended()
        case .endsBeforeOnce where store.upload(path).commandCount == 1: throw Ended()
        case .twoPreliminary: try send("125 a\r\n150 b")
        default: try send("150 come")
        }
        let outcome = Box<Result<Void, any Error>>(.failure(Ended()))
        let isDone = port.perform { [self] data in
            let result = Result { try receive(path, resource, act, data, appends ? nil : offset) }
            outcome.value = result
        }
        guard isDone else { throw Ended() }
        try outcome.value.get()
    }

    /// - Parameter offset: Where the bytes belong; nil for the end.
    private func receive(
        _ path: String, _ resource: Resource, _ act: StoringAct?, _ data: StreamSocket, _ offset: Int?
    ) throws {
        let isProtected = state.withLock { $0.protectsData }
        if tls != nil, !isProtected { store.noteUnprotected("the data of \(path)") }
        if let tls, isProtected {
            guard (try? data.startTLS(tls.context)) != nil else { return try send("425 no TLS") }
            if tls.requiresResumption, data.tlsFacts?.isResumed != true { return try send("522 TLS has to be resumed") }
        }
        if act == .early { try confirm(path, act) }
        if let offset { store.change(path) { $0.bytes = Array($0.bytes.prefix(offset)) } }
        var count = 0
        while true {
            if let act, act.isAmid, count >= resource.length / 2 { return try stop(act, data) }
            guard let piece = try? data.read() else { return try send("426 lost") }
            if piece.isEmpty { break }
            store.change(path) { upload in
                if count == 0 { upload.transferCount += 1 }
                upload.bytes += piece
            }
            count += piece.count
        }
        // What ends without close_notify may be a part.
        if data.tlsFacts != nil, !data.receivedCloseNotify { return try send("426 cut off") }
        switch act {
        case .endsAfterData: throw Ended()
        case .resetsAfterData:
            socket.reset()
            throw Ended()
        case .withoutNotify: data.closeWithoutNotify()
        default: data.close()
        }
        if act != .early { try confirm(path, act) }
    }

    /// Amid a transfer.
    private func stop(_ act: StoringAct, _ data: StreamSocket) throws {
        switch act {
        case .full:
            try send("452 full")
            // The client ends the data connection.
            while let piece = try? data.read(), !piece.isEmpty {}
        case .endsAmid: throw Ended()
        case .resetsData: data.reset()
        case .endsDataWithoutNotify: data.closeWithoutNotify()
        default: data.close()
        }
        if act != .full, act != .endsDataInSilence { try send("426 no more") }
    }

    private func confirm(_ path: String, _ act: StoringAct?) throws {
        store.change(path) { $0.isConfirmed = true }
        switch act {
        case .otherCompletion: try send("250 stored")
        case .manyLines: try send("226-It is\r\n 226 here\r\n226 stored")
        default: try send("226 stored")
        }
    }

    // MARK: Lines

    private func send(_ text: String) throws { try socket.write(Array((text + "\r\n").utf8)) }

    /// Nil at the connection's end.
    private func readLine() throws -> String? {
        while true {
            let line = state.withLock { state -> [UInt8]? in
                guard let end = state.unread.firstIndex(of: 0x0A) else { return nil }
                defer { state.unread.removeSubrange(...end) }
                return state.unread[..<end].filter { $0 != 0x0D }
            }
            if let line { return String(decoding: line, as: UTF8.self) }
            let bytes = try socket.read()
            guard !bytes.isEmpty else { return nil }
            state.withLock { $0.unread += bytes }
        }
    }
}

/// A port for one data connection, which waits until it is told what to do.
private final class StoringFTPPort: Sendable {
    typealias Work = @Sendable (StreamSocket) -> Void

    private let ready = Signal()
    private let done = Signal()
    private let work = Box<Work?>(nil)
    private let stopping: Signal
    private let acceptor: ConnectionAcceptor

    init(_ stopping: Signal) throws {
        self.stopping = stopping
        acceptor = try ConnectionAcceptor(.ipv4(), limit: .init(connections: 1, overflow: .refuse)) {
            [ready, done, work] socket, _ in
            defer { done.fire() }
            guard ready.waitBlocking(interruptedBy: stopping) else { return }
            work.value?(socket)
        }
    }

    var number: UInt16 { acceptor.address.port ?? 0 }

    /// Returns whether the work was done; otherwise the server stops.
    func perform(_ body: @escaping Work) -> Bool {
        work.value = body
        ready.fire()
        return done.waitBlocking(interruptedBy: stopping)
    }

    func stop() {
        ready.fire()
        acceptor.stop()
    }
}
