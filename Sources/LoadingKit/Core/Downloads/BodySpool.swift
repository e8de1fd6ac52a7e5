import Foundation
import LoadingKitTransport

/// A file that receives a body. Its functions may block. One thread at a time calls them.
package protocol SpooledFile: AnyObject, Sendable {
    var count: Int64 { get }

    /// Performs the operations in order, and returns the number of bytes written.
    ///
    /// - Parameter expected: the expected size of the file in bytes; negative where it is not known.
    func perform(_ operations: [SpoolOperation], expecting expected: Int64) throws -> Int64
}

package enum SpoolOperation: Sendable {
    case write(Data)
    /// The body is received from its beginning again.
    case startOver
}

/// Writes a body's bytes into a file, in batches, on the thread pool for blocking work. Confined to its loop.
final class BodySpool: @unchecked Sendable {  // confined to `loop`
    /// The number of unwritten bytes from which the load has to wait.
    static let highWater = 2 << 20

    /// Called after a batch, with the number of bytes written.
    var onWritten: ((Int64) -> Void)?
    var onFailure: ((any Error) -> Void)?

    let loop: EventLoop
    private let file: any SpooledFile
    private var waiting: [SpoolOperation] = []
    private var waitingBytes = 0
    private var isWorking = false
    private var hasFailed = false
    /// The expected size of the file in bytes; negative where it is not known.
    private var expected: Int64 = -1
    private var whenIdle: (() -> Void)?

    /// The file's size as far as the loop knows it: exact while no write is in progress.
    private(set) var count: Int64

    init(_ loop: EventLoop, _ file: any SpooledFile) {
        self.loop = loop
        self.file = file
        count = file.count
    }

    /// Whether no write is pending: everything is written, or a write has failed.
    var isIdle: Bool { !isWorking }

    /// Whether bytes were written, or are to be written.
    var hasBytes: Bool { count > 0 || waitingBytes > 0 }

    /// Whether the load should wait before it delivers more.
    var isBehind: Bool { waitingBytes >= Self.highWater }

    /// - Parameter expected: the expected size of the file in bytes; negative where it is not known.
    func append(_ data: Data, of expected: Int64) {
        self.expected = expected
        waiting.append(.write(data))
        waitingBytes += data.count
        work()
    }

    func startOver() {
        waiting = [.startOver]
        waitingBytes = 0
        work()
    }

    /// Calls `done` when no write and no other work is pending: everything is written, or a write has failed.
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

    /// Does the last work on the file, when no write is pending. Until it is done, the spool is not idle: no other thread
    /// uses the file meanwhile.
    func perform<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value, _ done: @escaping (Result<Value, any Error>) -> Void
    ) {
        isWorking = true
        loop.offload(inPlace: true, work) { [self] result in
            isWorking = false
            done(result)
            reportIfIdle()
        }
    }

    private func reportIfIdle() {
        guard isIdle, let done = whenIdle.take() else { return }
        done()
    }
}
