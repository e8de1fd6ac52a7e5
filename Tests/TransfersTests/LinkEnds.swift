import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransfers
import LoadingKitTransport

/// A link on a loop of its own, whose other end the test has: a plain socket.
final class LinkEnds: @unchecked Sendable {  // confined to the loop, but for the descriptor
    /// Its time stands still, so that a link that is about to close waits for the test.
    let loop = EventLoop(name: "link", time: .manual(ManualTime()))
    /// The test's end, which blocks.
    let plain: Int32
    private(set) var link: SocketLink
    let owner = LinkRecorder()

    init(waitingLimit: Int = SocketLink.maximumWaiting) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw POSIXError(.EMFILE)
        }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        plain = ends[1]
        link = SocketLink(LocalSocket(ends[0], on: loop), waitingLimit: waitingLimit)
        link.owner = owner
    }

    deinit {
        Glibc.close(plain)
        loop.stop()
    }

    /// Runs on the loop, and gives what `body` gives.
    func run<Value: Sendable>(_ body: @escaping @Sendable (SocketLink) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { continuation.resume(with: Result { try body(self.link) }) }
        }
    }

    func start() async throws { try await run { $0.start() } }

    /// From the test's end. Blocks while the link does not read.
    func write(_ bytes: [UInt8], descriptors: [Int32] = []) -> Int {
        bytes.withUnsafeBytes { bytes in PlainSocket.send(plain, bytes, descriptors) }
    }

    /// At the test's end.
    func read(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = Glibc.recv(plain, &bytes, count, 0)
        return Array(bytes.prefix(max(result, 0)))
    }
}

/// What a link has said to its owner.
final class LinkRecorder: SocketLinkOwner, Sendable {
    private struct State {
        var messages: [String] = []
        var descriptors: [[OwnedDescriptor]] = []
        var end: WireError?
    }

    private let state = Guarded(State())
    /// One for each message and the end.
    let events = Signals()
    /// One for the end.
    let closed = Signals()

    var messages: [String] { state.withLock { $0.messages } }
    var end: WireError? { state.withLock { $0.end } }

    /// Those that came with each message. They are closed when they are let go.
    func takeDescriptors() -> [[OwnedDescriptor]] {
        state.withLock { state in
            defer { state.descriptors = [] }
            return state.descriptors
        }
    }

    func link(_ link: SocketLink, didReceive message: ReceivedMessage, descriptors: [OwnedDescriptor]) {
        state.withLock {
            $0.messages.append("\(message)")
            $0.descriptors.append(descriptors)
        }
        events.fire()
    }

    func link(_ link: SocketLink, didClose end: WireError) {
        state.withLock { $0.end = end }
        events.fire()
        closed.fire()
    }
}

/// Events that are counted and waited for.
final class Signals: Sendable {
    private struct State {
        var count = 0
        var waiting: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())

    var count: Int { state.withLock { $0.count } }

    func fire() {
        let due = state.withLock { state in
            state.count += 1
            let due = state.waiting.filter { $0.count <= state.count }
            state.waiting.removeAll { $0.count <= state.count }
            return due.map(\.1)
        }
        for continuation in due { continuation.resume() }
    }

    /// Returns when so many were fired since the beginning.
    func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if state.count >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isDue { continuation.resume() }
        }
    }
}
