import DequeModule
import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

enum StreamOperation: Sendable {
    case read(StreamRead)
    case write(StreamWrite)
    case closeRead
    case closeWrite
    case secure
    case unsecure
    case capture

    func fail(_ error: any Error) {
        switch self {
        case .read(let read): read.done(nil, false, URLError(error, url: nil))
        case .write(let write): write.done(URLError(error, url: nil))
        case .closeRead, .closeWrite, .secure, .unsecure, .capture: break
        }
    }
}

struct StreamRead: Sendable {
    let minimum: Int
    let maximum: Int
    let timeout: TimeInterval
    let done: @Sendable (Data?, Bool, (any Error)?) -> Void
}

struct StreamWrite: Sendable {
    let data: Data
    let timeout: TimeInterval
    let done: @Sendable ((any Error)?) -> Void
    var sent = 0
}

/// The timeout of a read or write. It runs while the operation is the current one and the task is not suspended. Confined
/// to the session's loop.
final class StreamTimeout {
    /// In nanoseconds, from the last start; nil: there is no limit.
    private var left: UInt64?
    private var running: (timer: LoopTimer, end: MonotonicTime)?

    /// - Parameter seconds: not positive means no limit.
    init(_ seconds: TimeInterval) {
        left = seconds > 0 ? MonotonicTime(nanoseconds: 0).advanced(bySeconds: seconds).nanoseconds : nil
    }

    /// Has no effect while the timeout runs.
    func start(on loop: EventLoop, _ work: @escaping () -> Void) {
        guard running == nil, let left else { return }
        let end = loop.now.advanced(byNanoseconds: left)
        running = (timer: loop.schedule(at: end, work), end: end)
    }

    func pause(_ now: MonotonicTime) {
        guard let running else { return }
        left = running.end.nanoseconds(since: now)
        cancel()
    }

    func cancel() {
        running?.timer.cancel()
        running = nil
    }
}

/// The operations between two changes of a connection: reads in sequence, and writes in sequence.
struct StreamLane {
    enum Reading {
        case read(StreamRead, StreamTimeout)
        case close
    }

    enum Writing {
        case write(StreamWrite, StreamTimeout)
        case close
    }

    /// A change of the connection, after all earlier operations.
    enum Barrier {
        case secure, unsecure, capture
    }

    var reads = Deque<Reading>()
    var writes = Deque<Writing>()
    /// The change after this lane; the lane then accepts no more operations.
    var barrier: Barrier?

    var isEmpty: Bool { reads.isEmpty && writes.isEmpty }
}
