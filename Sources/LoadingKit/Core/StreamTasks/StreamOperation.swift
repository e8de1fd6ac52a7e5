import DequeModule
import Foundation
import LoadingKitTransport

/// What a program has a stream task do.
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

    init(data: Data, timeout: TimeInterval, done: @escaping @Sendable ((any Error)?) -> Void) {
        self.data = data
        self.timeout = timeout
        self.done = done
    }
}

/// What is to be done between two changes of a connection: reads one after the other, and writes.
struct StreamLane {
    enum Reading {
        case read(StreamRead, LoopTimer?)
        case close
    }

    enum Writing {
        case write(StreamWrite, LoopTimer?)
        case close
    }

    /// What changes the connection, when all before it is done.
    enum Barrier {
        case secure, unsecure, capture
    }

    var reads = Deque<Reading>()
    var writes = Deque<Writing>()
    /// What follows this lane; nothing is added to it any more then.
    var barrier: Barrier?

    var isEmpty: Bool { reads.isEmpty && writes.isEmpty }
}
