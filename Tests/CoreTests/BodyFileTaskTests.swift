import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite("A task whose body is put into a file")
struct BodyFileTaskTests {
    @Test("reports its response to the delegate, and its end when all is written, in order and whole")
    func body() async throws {
        let file = RecordingFile()
        let outcome = await Self.load(into: file, body: 3 << 20)
        #expect(outcome.error == nil)
        #expect(outcome.calls == ["response", "metrics", "end"])
        #expect(outcome.countAtEnd == 3 << 20 && file.isInOrder)
    }

    @Test("lets the load wait while the file is behind")
    func backpressure() async throws {
        let file = RecordingFile(startsHeld: true)
        let sent = SentCount()
        async let outcome = Self.load(into: file, body: 64 << 20, sent: sent)
        // The first batch is held. The load stops when two more MiB and a little wait behind it.
        await file.firstBatch()
        try await waitUntil { sent.count >= 2 << 20 }
        #expect(sent.count < 8 << 20)
        file.releaseResources()
        #expect(await outcome.countAtEnd == 64 << 20)
    }

    @Test("ends with the file's error")
    func failure() async throws {
        let outcome = await Self.load(into: RecordingFile(failsAfter: 1 << 20), body: 8 << 20)
        #expect((outcome.error as? URLError)?.code == .cannotWriteToFile)
        #expect(outcome.calls.last == "end")
    }

    @Test("gets a body that has parts, of which each replaces the one before, as it is")
    func mixedReplace() async throws {
        let file = RecordingFile()
        let outcome = await Self.load(into: file, body: 1 << 20, type: "multipart/x-mixed-replace; boundary=b")
        #expect(outcome.error == nil && outcome.calls == ["response", "metrics", "end"])
        #expect(outcome.countAtEnd == 1 << 20)
    }

    // MARK: Support

    private struct Outcome: Sendable {
        var calls: [String]
        var error: (any Error)?
        var countAtEnd: Int64
    }

    private static func load(
        into file: RecordingFile, body: Int, type: String = "text/plain", sent: SentCount = SentCount()
    ) async -> Outcome {
        let configuration = URLSessionConfiguration(settings: SessionSettings())
        configuration.register(scheme: "pieces", loading: { try await $0.receivePieces(body, type, sent) })
        let recorder = Recorder(file)
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        guard let url = URL(string: "pieces://x/") else { return Outcome(calls: [], countAtEnd: 0) }
        return await withCheckedContinuation { continuation in
            recorder.onEnd.withLock { $0 = { continuation.resume(returning: $0) } }
            session.dataTask(with: URLRequest(url: url), into: file).resume()
        }
    }

    private final class Recorder: NSObject, URLSessionDataDelegate {
        let calls = Guarded<[String]>([])
        let onEnd = Guarded<(@Sendable (Outcome) -> Void)?>(nil)
        private let file: RecordingFile

        init(_ file: RecordingFile) { self.file = file }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            calls.withLock { $0.append("response") }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            calls.withLock { $0.append("data") }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            calls.withLock { $0.append("metrics") }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let calls = calls.withLock { calls in
                calls.append("end")
                return calls
            }
            onEnd.withLock { $0 }?(Outcome(calls: calls, error: error, countAtEnd: file.count))
        }
    }
}

/// Notes what it is given instead of keeping it, one call at a time.
private final class RecordingFile: SpooledFile {
    private struct State {
        var count: Int64 = 0
        var isInOrder = true
        var isBusy = false
    }

    private let state = Guarded(State())
    private let limit: Int64
    private let gate: DispatchSemaphore?
    private let begun: AsyncStream<Void>
    private let begins: AsyncStream<Void>.Continuation

    init(startsHeld: Bool = false, failsAfter limit: Int64 = .max) {
        self.limit = limit
        gate = startsHeld ? DispatchSemaphore(value: 0) : nil
        (begun, begins) = AsyncStream.makeStream()
    }

    var count: Int64 { state.withLock { $0.count } }
    var isInOrder: Bool { state.withLock { $0.isInOrder } }

    func firstBatch() async { for await _ in begun { return } }

    func releaseResources() { for _ in 0..<100_000 { gate?.signal() } }

    func perform(_ operations: [SpoolOperation], expecting expected: Int64) throws -> Int64 {
        state.withLock { state in
            if state.isBusy { state.isInOrder = false }
            state.isBusy = true
        }
        defer { state.withLock { $0.isBusy = false } }
        begins.yield()
        gate?.wait()
        var written: Int64 = 0
        for case .write(let data) in operations {
            written += Int64(data.count)
            state.withLock { state in
                if let first = data.first, first != patternByte(at: Int(state.count)) { state.isInOrder = false }
                state.count += Int64(data.count)
            }
        }
        if count > limit { throw URLError(.cannotWriteToFile) }
        return written
    }
}

extension LoadContext {
    /// Sends a body, of which each byte tells in which KiB it is.
    fileprivate func receivePieces(_ size: Int, _ type: String, _ sent: SentCount) async throws {
        try await receive(URLResponse(url: url, mimeType: type, expectedContentLength: size, textEncodingName: nil))
        for offset in stride(from: 0, to: size, by: 64 << 10) {
            let piece = (0..<64).flatMap { [UInt8](repeating: patternByte(at: offset + $0 << 10), count: 1 << 10) }
            try await receive(Data(piece))
            sent.add(piece.count)
        }
    }
}

/// Bytes that a load has brought, and that were taken.
private final class SentCount: Sendable {
    private let value = Guarded(0)

    var count: Int { value.withLock { $0 } }

    func add(_ count: Int) { value.withLock { $0 += count } }
}

private func patternByte(at offset: Int) -> UInt8 { UInt8(truncatingIfNeeded: offset >> 10) }
