import Foundation
import Synchronization

/// The state of an event stream.
public enum EventStreamState: Sendable, Hashable {
    /// A request is in progress; the number of the attempt, from 1.
    case connecting(attempt: Int)
    /// The server has responded, and events may arrive.
    case open
    /// The stream has ended or failed, and reconnects after `seconds`.
    case waiting(seconds: Double)
    /// The stream has ended, or is no longer read.
    case closed
}

/// The state of a sequence, which its iterators report to the program. Used from any thread.
final class EventStreamMonitor: Sendable {
    private struct Shared {
        var state = EventStreamState.closed
        var lastEventID: String
        /// In milliseconds.
        var reconnectionTime: Int?
        var observers: [UInt64: AsyncStream<EventStreamState>.Continuation] = [:]
        var nextObserver: UInt64 = 0
    }

    private let shared: Mutex<Shared>

    init(lastEventID: String) { shared = Mutex(Shared(lastEventID: lastEventID)) }

    var state: EventStreamState { shared.withLock { $0.state } }
    var lastEventID: String { shared.withLock { $0.lastEventID } }
    var reconnectionTime: Int? { shared.withLock { $0.reconnectionTime } }

    func change(to state: EventStreamState) {
        let observers = shared.withLock { shared -> [AsyncStream<EventStreamState>.Continuation] in
            guard shared.state != state else { return [] }
            shared.state = state
            return Array(shared.observers.values)
        }
        for observer in observers { observer.yield(state) }
    }

    func note(lastEventID: String, reconnectionTime: Int?) {
        shared.withLock { shared in
            shared.lastEventID = lastEventID
            if let reconnectionTime { shared.reconnectionTime = reconnectionTime }
        }
    }

    /// Starts with the current state. A reader that is more than 64 changes behind misses the oldest.
    func observe() -> AsyncStream<EventStreamState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let number = shared.withLock { shared -> UInt64 in
                let number = shared.nextObserver
                shared.nextObserver &+= 1
                shared.observers[number] = continuation
                continuation.yield(shared.state)
                return number
            }
            continuation.onTermination = { [weak self] _ in
                self?.shared.withLock { _ = $0.observers.removeValue(forKey: number) }
            }
        }
    }

    deinit { for observer in shared.withLock({ Array($0.observers.values) }) { observer.finish() } }
}
