import DequeModule
import Foundation
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

/// The operations between two changes of a connection: reads in sequence, and writes in sequence.
struct StreamLane {
    enum Reading {
        case read(StreamRead, LoopTimer?)
        case close
    }

    enum Writing {
        case write(StreamWrite, LoopTimer?)
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
