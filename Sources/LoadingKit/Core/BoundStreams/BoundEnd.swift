import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// The shared part of both ends of a bound pair: a status, and a delegate that gets events on a queue or in a run loop.
final class BoundEnd: @unchecked Sendable {  // `state` has a mutex; the rest is Sendable
    private struct State: @unchecked Sendable {  // stream and delegate are used where they are scheduled
        var status = Stream.Status.notOpen
        weak var stream: Stream?
        weak var delegate: (any StreamDelegate)?
    }

    let pipe: BoundPipe
    private let side: BoundPipe.Side
    private let schedule = StreamSchedule()
    private let state = Guarded(State())

    init(_ pipe: BoundPipe, _ side: BoundPipe.Side) {
        self.pipe = pipe
        self.side = side
    }

    /// Closes the pipe, so that a thread that waits at the other end continues.
    deinit {
        pipe.observe(side, nil)
        pipe.close(side)
    }

    var isOpen: Bool { state.withLock { $0.status } == .open }

    var status: Stream.Status {
        let status = state.withLock { $0.status }
        guard status == .open else { return status }
        switch side {
        case .reading where pipe.failure != nil: return .error
        case .reading: return pipe.isAtEnd ? .atEnd : .open
        case .writing: return pipe.isBroken ? .error : .open
        }
    }

    var delegate: (any StreamDelegate)? {
        get { state.withLock { LoopTransfer($0.delegate) }.value }
        set {
            let delegate = LoopTransfer(newValue)
            state.withLock { $0.delegate = delegate.value }
        }
    }

    func open(_ stream: Stream) {
        let stream = LoopTransfer(stream)
        let opens = state.withLock { state -> Bool in
            guard state.status == .notOpen else { return false }
            state.status = .open
            state.stream = stream.value
            return true
        }
        guard opens else { return }
        pipe.observe(side) { [weak self] in self?.reportStatus() }
        send(.openCompleted)
        reportStatus()
    }

    func close() {
        state.withLock { $0.status = .closed }
        pipe.observe(side, nil)
        pipe.close(side)
        schedule.removeAll()
    }

    func schedule(in loop: RunLoop, _ mode: RunLoop.Mode) {
        schedule.add(loop, mode)
        if isOpen { reportStatus() }
    }

    func remove(from loop: RunLoop, _ mode: RunLoop.Mode) { schedule.remove(loop, mode) }

    func schedule(on queue: DispatchQueue?) {
        schedule.set(queue)
        if isOpen { reportStatus() }
    }

    /// Sends the delegate the current event, if there is one: bytes, room, an error, or the end.
    func reportStatus() {
        switch side {
        case .reading where pipe.hasBytes: send(.hasBytesAvailable)
        case .reading where pipe.failure != nil: send(.errorOccurred)
        case .reading where pipe.isAtEnd: send(.endEncountered)
        case .writing where pipe.isBroken: send(.errorOccurred)
        case .writing where pipe.hasRoom: send(.hasSpaceAvailable)
        case .reading, .writing: break
        }
    }

    private func send(_ event: Stream.Event) {
        let isReadiness = event == .hasBytesAvailable || event == .hasSpaceAvailable
        schedule.perform(isReadiness: isReadiness) { [weak self] in
            guard let self, status != .closed, isCurrent(event) else { return }
            let stream = state.withLock { LoopTransfer($0.stream) }.value
            if let stream { delegate?.stream(stream, handle: event) }
        }
    }

    /// Whether a read or write at this event would not block. Since the event was enqueued an earlier call of the
    /// delegate may have read the bytes, or filled the room.
    private func isCurrent(_ event: Stream.Event) -> Bool {
        switch event {
        case .hasBytesAvailable: pipe.hasBytes
        case .hasSpaceAvailable: pipe.hasRoom
        default: true
        }
    }
}
