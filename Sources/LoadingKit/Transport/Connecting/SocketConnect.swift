import CLoadingKitShims
import Glibc
import LoadingKitPrimitives

/// One attempt to connect a socket to an address.
final class SocketConnect: EventSource {
    typealias Completion = (Result<Socket, TransportError.Cause>) -> Void

    private enum State {
        case idle
        /// The system had no descriptor. Idle connections are being closed.
        case waitingForDescriptors(Completion)
        case connecting(Socket, Completion)
        /// A Unix socket's queue is full. There is no event for the time when it has room again.
        case waitingToRetry(Socket, LoopTimer)
        case finished
    }

    /// The delay before the next attempt after a Unix socket's queue was full, in nanoseconds.
    private static let retryDelay: UInt64 = 10_000_000

    /// The number of attempts, of which each closes idle connections.
    static let maximumDescriptorAttempts = 8

    let address: SocketAddress
    private let use: NetworkUse
    private let loop: EventLoop
    private var state = State.idle
    private var descriptorAttempts = 0

    init(_ address: SocketAddress, over use: NetworkUse, on loop: EventLoop) {
        self.address = address
        self.use = use
        self.loop = loop
    }

    /// Begins. `completion` may be called at once, and is never called after `cancel()`.
    func start(_ completion: @escaping Completion) {
        do {
            if let (interface, exclusion) = try exclusion() {
                return end(completion, .failure(.notAllowed(exclusion, interface: interface.name)))
            }
            bind(try Socket.open(for: address, use, on: loop).get(), completion)
        } catch  where error.isLackOfDescriptors && descriptorAttempts < Self.maximumDescriptorAttempts {
            closeIdleConnections(completion, error)
        } catch {
            fail(completion, error)
        }
    }

    /// The interface by which the connection would leave, if it is excluded. Throws where that is unknown.
    private func exclusion() throws(SystemCallFailure) -> (NetworkInterface, NetworkUse.Exclusion)? {
        guard use.isRestricted, case .ip = address,
            let interface = try NetworkInterface.outgoing(to: address, by: use.interface)
        else { return nil }
        return use.exclusion(of: interface).map { (interface, $0) }
    }

    private func bind(_ socket: Socket, _ completion: @escaping Completion) {
        guard let interface = use.interface, case .ip = address else { return connect(socket, completion) }
        let result = interface.bind(socket.descriptor, for: address.family)
        guard result < 0 else { return connect(socket, completion) }
        socket.close()
        let reason = SystemCalls.text(ofError: Int32(clamping: -result))
        end(
            completion,
            .failure(.configuration("the connection cannot use “\(interface)” (requiredInterface): \(reason)")))
    }

    /// Closes idle connections and tries again. Gives up if there are none.
    private func closeIdleConnections(_ completion: @escaping Completion, _ failure: SystemCallFailure) {
        descriptorAttempts += 1
        state = .waitingForDescriptors(completion)
        loop.closeIdleConnections { [self] hasClosed in idleConnectionsDidClose(hasClosed, failure) }
    }

    private func idleConnectionsDidClose(_ hasClosed: Bool, _ failure: SystemCallFailure) {
        guard case .waitingForDescriptors(let completion) = state else { return }
        if hasClosed { start(completion) } else { fail(completion, failure) }
    }

    func cancel() {
        switch state {
        case .connecting(let socket, _): socket.close()
        case .waitingToRetry(let socket, let timer):
            timer.cancel()
            socket.close()
        case .idle, .waitingForDescriptors, .finished: break
        }
        state = .finished
    }

    private func connect(_ socket: Socket, _ completion: @escaping Completion) {
        let result = address.withSystemAddress { SystemCalls.connect(socket.descriptor, $0, $1) }
        let code = result.map { $0 < 0 ? Int32(-$0) : 0 } ?? ENAMETOOLONG
        if code == EAGAIN, case .unix = address {
            retryLater(socket, completion)
            return
        }
        guard code == 0 || code == EINPROGRESS else {
            socket.close()
            fail(completion, SystemCallFailure(name: .connect, code: code))
            return
        }
        state = .connecting(socket, completion)
        if let failure = socket.watch(by: self) {
            socket.close()
            fail(completion, failure)
        } else if code == 0 {
            end(completion, .success(socket))
        }
    }

    private func retryLater(_ socket: Socket, _ completion: @escaping Completion) {
        let timer = loop.schedule(at: loop.now.advanced(byNanoseconds: Self.retryDelay)) { [weak self] in
            self?.connect(socket, completion)
        }
        state = .waitingToRetry(socket, timer)
    }

    func handle(events: UInt32) {
        guard case .connecting(let socket, let completion) = state else { return }
        socket.note(events)
        let code = SystemCalls.pendingError(socket.descriptor)
        if code == 0, events & EPOLLOUT.rawValue == 0 { return }
        if code != 0 || events & EPOLLHUP.rawValue != 0 && events & EPOLLIN.rawValue == 0 {
            socket.close()
            fail(completion, SystemCallFailure(name: .connect, code: code == 0 ? ECONNRESET : Int32(abs(code))))
        } else if socket.localAddress == address {
            // No server listened, and the system chose the destination's port: the socket is connected to itself.
            socket.close()
            fail(completion, SystemCallFailure(name: .connect, code: ECONNREFUSED))
        } else {
            end(completion, .success(socket))
        }
    }

    private func fail(_ completion: Completion, _ failure: SystemCallFailure) {
        end(completion, .failure(.init(failure)))
    }

    private func end(_ completion: Completion, _ result: Result<Socket, TransportError.Cause>) {
        state = .finished
        completion(result)
    }
}
