import Foundation
import LoadingKitTransport

/// A file that a body is put into. Its functions may block. One thread at a time calls them.
package protocol SpooledFile: AnyObject, Sendable {
    /// Bytes from the beginning that are written.
    var count: Int64 { get }

    /// Does one after the other, and gives how many bytes were written.
    ///
    /// - Parameter expected: how many bytes the file will have; below 0 where that is not known.
    func perform(_ operations: [SpoolOperation], expecting expected: Int64) throws -> Int64
}

/// What is to be done with a body's file.
package enum SpoolOperation: Sendable {
    case write(Data)
    /// Bytes come from the beginning again.
    case startOver
}

/// Puts a body's bytes into a file, a batch at a time on the pool of threads for what blocks. Confined to its loop.
final class BodySpool: @unchecked Sendable {  // confined to `loop`
    /// Bytes that may wait to be written before the load has to wait.
    static let highWater = 2 << 20

    /// A batch was written, of so many bytes.
    var onWritten: ((Int64) -> Void)?
    var onFailure: ((any Error) -> Void)?

    let loop: EventLoop
    private let file: any SpooledFile
    private var waiting: [SpoolOperation] = []
    private var waitingBytes = 0
    private var isWorking = false
    private var hasFailed = false
    /// How many bytes the file will have; below 0 where that is not known.
    private var expected: Int64 = -1
    private var whenIdle: (() -> Void)?

    /// How many bytes the file has, as far as it is known here: right when nothing is being written.
    private(set) var count: Int64

    init(_ loop: EventLoop, _ file: any SpooledFile) {
        self.loop = loop
        self.file = file
        count = file.count
    }

    /// Whether all is written that was to be, or cannot be.
    var isIdle: Bool { !isWorking }

    /// Whether the load should wait before it brings more.
    var isBehind: Bool { waitingBytes >= Self.highWater }

    /// - Parameter expected: how many bytes the file will have; below 0 where that is not known.
    func append(_ data: Data, of expected: Int64) {
        self.expected = expected
        waiting.append(.write(data))
        waitingBytes += data.count
        work()
    }

    /// What was written is dropped.
    func startOver() {
        waiting = [.startOver]
        waitingBytes = 0
        work()
    }

    /// Calls back when all is written that was to be, or cannot be.
    func settle(_ done: @escaping () -> Void) {
        whenIdle = done
        reportIfIdle()
    }

    private func work() {
        guard !isWorking, !waiting.isEmpty, !hasFailed else { return }
        isWorking = true
        let batch = waiting
        let bytes = waitingBytes
        waiting = []
        BlockingPool.shared.run { [self, expected] in
            let result = Result { try file.perform(batch, expecting: expected) }
            let count = file.count
            loop.execute { self.batchDidEnd(result, bytes, count) }
        }
    }

    private func batchDidEnd(_ result: Result<Int64, any Error>, _ bytes: Int, _ count: Int64) {
        isWorking = false
        self.count = count
        waitingBytes = max(0, waitingBytes - bytes)
        switch result {
        case .success(let written):
            work()
            onWritten?(written)
        case .failure(let error):
            hasFailed = true
            waiting = []
            waitingBytes = 0
            onFailure?(error)
        }
        reportIfIdle()
    }

    private func reportIfIdle() {
        guard isIdle, let done = whenIdle.take() else { return }
        done()
    }
}
