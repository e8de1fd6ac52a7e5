import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransfers
import LoadingKitTransport
import TestSupport

/// A daemon in this process, whose clock the test moves.
final class ServerInProcess: Sendable {
    let folder: TemporaryFolder
    let place: DaemonPlace
    private let time = ManualTime()
    let performer = HeldTransfers()
    let server: DaemonServer
    /// Fired when the server has ended.
    let ended = Signals()
    private let loop: EventLoop

    init(_ limits: DaemonServer.Limits = DaemonServer.Limits(), isBroken: Bool = false) throws {
        folder = try TemporaryFolder()
        place = DaemonPlace(folder: folder.path + "/loadkit")
        loop = EventLoop(name: "server", time: .manual(time))
        let log = DaemonLog(path: folder.path + "/daemon.log")
        server = DaemonServer(on: loop, limits: limits, log: log) { [performer] in
            if isBroken { throw DaemonError("the journal is broken") }
            return performer
        } didEnd: { [ended] in
            ended.fire()
        }
        guard let listener = try DaemonListener(place) else { throw CocoaError(.fileLocking) }
        server.start(listener)
    }

    deinit {
        server.stop("the test is over")
        loop.stop()
    }

    func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            loop.execute {
                body()
                continuation.resume()
            }
        }
    }

    func untilItServes() async { await run {} }

    /// Moves the clock, and returns when the server has done what became due.
    func advance(by duration: Duration) async {
        time.advance(by: duration)
        await run {}
    }

    /// Returns when the server has so many connections; each turn of its loop may bring one.
    func untilConnectionsAre(_ count: Int) async throws {
        try await waitUntil { await connectionCount == count }
    }

    func untilConnectionsEnd() async throws { try await untilConnectionsAre(0) }

    private var connectionCount: Int {
        get async {
            await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: self.server.connectionCount) }
            }
        }
    }
}

/// A program that has a plain socket to the daemon. It blocks.
final class PlainProgram: @unchecked Sendable {  // the reader is used by one thread
    private let descriptor: Int32
    private var reader = MessageReader()
    private var messages: [String] = []
    /// So many bytes at most have waited for the rest of their message.
    private(set) var mostPending = 0

    init(_ place: DaemonPlace) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: place.socket.utf8) }
        let code = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    /// - Parameter descriptor: Of a socket that is connected.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { Glibc.close(descriptor) }

    func write(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { PlainSocket.send(descriptor, $0, []) }
    }

    /// Gives the daemon's greeting.
    func greet() throws -> String? {
        write(try MessageFrame(.hello(TransferMessage.Hello(process: getpid()))).bytes)
        return readOne()
    }

    /// The next message; nil at the end.
    func readOne() -> String? {
        while messages.isEmpty {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { return nil }
            var reading = WireReading()
            mostPending = max(mostPending, reader.pendingCount)
            reading.read(bytes[..<count], &reader)
            messages += reading.messages
        }
        return messages.removeFirst()
    }

    /// The messages up to the end of the connection.
    func readAll() -> [String] {
        var all: [String] = []
        while let message = readOne() { all.append(message) }
        return all
    }

    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// Transfers that are performed when the test says so.
final class HeldTransfers: TransferPerformer, TransferChannel {
    private struct State {
        var receive: (@Sendable (TransferEvent) -> Void)?
        var observer: (@Sendable (Bool) -> Void)?
        var held: [@Sendable ((any Error)?) -> Void] = []
        var isHolding = true
    }

    private let state = Guarded(State())
    let attached = Signals()
    let detached = Signals()
    let commands = Signals()
    let observer = Signals()

    var heldCount: Int { state.withLock { $0.held.count } }

    func performAll() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for completion in held { completion(nil) }
    }

    func say(isIdle: Bool) { state.withLock { $0.observer }?(isIdle) }

    func send(_ event: TransferEvent) { state.withLock { $0.receive }?(event) }

    func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel {
        state.withLock { $0.receive = receive }
        return self
    }

    func attach() { attached.fire() }

    func overview(_ completion: @escaping @Sendable ([SessionOverview]) -> Void) { completion([]) }

    func control(
        session: String, _ command: TransferCommand, completion: @escaping @Sendable ((any Error)?) -> Void
    ) { completion(nil) }

    func observeIdleness(_ change: @escaping @Sendable (Bool) -> Void) {
        state.withLock { $0.observer = change }
        change(true)
        observer.fire()
    }

    func send(
        _ command: TransferCommand, descriptors: [OwnedDescriptor],
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let isHeld = state.withLock { state in
            if state.isHolding { state.held.append(completion) }
            return state.isHolding
        }
        commands.fire()
        if !isHeld { completion(nil) }
    }

    func detach() { detached.fire() }
}
