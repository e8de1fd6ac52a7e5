import Foundation
import LoadingKitTransport

/// Puts a download's bytes into its file, a batch at a time on the pool of threads for what blocks. Confined to its loop.
final class DownloadSpool: @unchecked Sendable {  // confined to `loop`
    /// Bytes that may wait to be written before the load has to wait.
    static let highWater = 2 << 20

    /// A batch was written, of so many bytes.
    var onWritten: ((Int64) -> Void)?
    var onFailure: ((any Error) -> Void)?

    private let loop: EventLoop
    private let file: DownloadFile
    private var waiting: [DownloadFile.Operation] = []
    private var waitingBytes = 0
    private var isWorking = false
    private var hasFailed = false
    /// How many bytes the file will have; below 0 where that is not known.
    private var expected: Int64 = -1
    private var whenIdle: (() -> Void)?

    /// How many bytes the file has, as far as it is known here: right when nothing is being written.
    private(set) var count: Int64

    init(_ loop: EventLoop, _ file: DownloadFile) {
        self.loop = loop
        self.file = file
        count = file.count
    }

    var name: String { file.name }
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

    /// Closes the file when all is written, and gives its place.
    func finish(_ done: @escaping (Result<URL, any Error>) -> Void) {
        let done = LoopTransfer(done)
        settle { [self] in
            BlockingPool.shared.run { [file, loop] in
                let result = Result {
                    try file.close()
                    return URL(fileURLWithPath: file.path ?? file.name)
                }
                loop.perform { done.value(result) }
            }
        }
    }

    /// Calls back when all is written that was to be, or cannot be.
    func settle(_ done: @escaping () -> Void) {
        whenIdle = done
        reportIfIdle()
    }

    /// Calls back when the file is closed; without resume data that names it, it is deleted. Nothing may follow.
    func end(keepsFile: Bool, _ done: @escaping () -> Void) {
        // Nothing was written: there is none.
        if file.path == nil { return done() }
        let done = LoopTransfer(done)
        BlockingPool.shared.run { [file, loop] in
            if keepsFile { file.leave() } else { file.remove() }
            loop.perform { done.value() }
        }
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
        guard !isWorking, let done = whenIdle.take() else { return }
        done()
    }
}
