import Dispatch
import Glibc
import LoadingKitPrimitives

/// Accepts connections on one thread and runs each on a separate thread, until it is stopped, which ends all of them.
package final class ConnectionAcceptor: Sendable {
    /// The treatment of connections beyond the limit.
    package enum Overflow: Sendable, Equatable {
        /// The listening socket is closed: connecting fails.
        case refuse
        /// The system completes the connection (within the backlog), but it is never served.
        case leaveWaiting
    }

    /// The number of connections to accept; nil for any number.
    package struct Limit: Sendable, Equatable {
        package var connections: Int
        package var overflow: Overflow

        package init(connections: Int, overflow: Overflow) {
            self.connections = connections
            self.overflow = overflow
        }
    }

    package typealias Handler = @Sendable (_ socket: StreamSocket, _ number: Int) -> Void

    package let address: LoopbackAddress
    private let core: Core

    /// Listens and accepts at once. The handler gets each connection with its number, from 0, on a separate thread;
    /// when it returns, the connection is closed.
    package init(
        _ address: LoopbackAddress, backlog: Int32 = SOMAXCONN, limit: Limit? = nil, stopping: Signal = Signal(),
        handler: @escaping Handler
    ) throws(SocketError) {
        let listener = try ListeningSocket(address, backlog: backlog)
        self.address = listener.address
        let core = Core(listener, limit, stopping, handler)
        self.core = core
        let accepting = try WorkerThread { core.acceptConnections() }
        core.state.withLock { $0.accepting = accepting }
    }

    deinit { stop() }

    /// Interrupts every connection, and returns when every thread has ended. Must not be called from a handler.
    package func stop() { core.stop() }
}

/// The state that the threads share. They hold this object and not the acceptor, so that an unused acceptor stops.
private final class Core: Sendable {
    struct Connection {
        var socket: StreamSocket
        var thread: WorkerThread?
    }

    struct State {
        var isStopping = false
        var accepting: WorkerThread?
        var connections: [Int: Connection] = [:]
        /// Threads that have finished, and have to be joined.
        var finished: [WorkerThread] = []
    }

    private let listener: ListeningSocket
    private let limit: ConnectionAcceptor.Limit?
    private let stopping: Signal
    private let handler: ConnectionAcceptor.Handler
    let state = Guarded(State())
    /// Signalled when a connection ends, for an accepting thread that has no free descriptors.
    private let connectionEnded = DispatchSemaphore(value: 0)

    init(
        _ listener: ListeningSocket, _ limit: ConnectionAcceptor.Limit?, _ stopping: Signal,
        _ handler: @escaping ConnectionAcceptor.Handler
    ) {
        self.listener = listener
        self.limit = limit
        self.stopping = stopping
        self.handler = handler
    }

    // MARK: The accepting thread

    func acceptConnections() {
        var number = 0
        while number < limit?.connections ?? .max {
            joinFinished()
            do {
                guard let socket = try listener.accept() else { return }
                start(socket, number)
                number &+= 1
            } catch {
                // No descriptors or memory: continue when a connection has ended, here or elsewhere in the process.
                _ = connectionEnded.wait(timeout: .now() + .milliseconds(20))
            }
        }
        if limit?.overflow == .refuse { listener.close() }
    }

    private func start(_ socket: StreamSocket, _ number: Int) {
        let isWanted = state.withLock { state in
            guard !state.isStopping else { return false }
            state.connections[number] = Connection(socket: socket)
            return true
        }
        guard isWanted else { return socket.reset() }
        do {
            let thread = try WorkerThread { self.run(socket, number) }
            state.withLock { state in
                if state.connections[number] != nil {
                    state.connections[number]?.thread = thread
                } else {
                    state.finished.append(thread)
                }
            }
        } catch {
            // There is no thread: the peer sees a reset.
            state.withLock { _ = $0.connections.removeValue(forKey: number) }
            socket.reset()
        }
    }

    private func joinFinished() {
        for thread in state.withLock({ exchange(&$0.finished, for: []) }) { thread.join() }
    }

    // MARK: A connection's thread

    private func run(_ socket: StreamSocket, _ number: Int) {
        handler(socket, number)
        socket.close()
        state.withLock { state in
            if let thread = state.connections.removeValue(forKey: number)?.thread { state.finished.append(thread) }
        }
        connectionEnded.signal()
    }

    // MARK: Stopping

    func stop() {
        let accepting = state.withLock { state in
            state.isStopping = true
            return state.accepting
        }
        stopping.fire()
        listener.shutDown()
        connectionEnded.signal()
        accepting?.join()
        listener.close()
        // No connection is added any longer. Each thread removes its own entry, so the table is copied.
        let connections = state.withLock { Array($0.connections.values) }
        for connection in connections { connection.socket.interrupt() }
        for connection in connections { connection.thread?.join() }
        joinFinished()
    }
}
