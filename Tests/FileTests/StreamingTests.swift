import Foundation
import LoadingKit
import TestSupport
import Testing

/// Files larger than memory should hold, and what happens to them meanwhile.
@Suite struct StreamingTests {
    /// Counts what it is told, and does something once, with the first bytes.
    private final class Counter: NSObject, URLSessionDataDelegate {
        let received = Box(0)
        let done = Recorder<URLError.Code?>()
        private let onFirst: @Sendable (URLSessionTask) -> Void

        init(onFirst: @escaping @Sendable (URLSessionTask) -> Void) { self.onFirst = onFirst }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            if received.value == 0 { onFirst(dataTask) }
            received.value += data.count
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            done.append((error as? URLError)?.code)
        }
    }

    private static let size = 1 << 30
    private let folder: TemporaryFolder
    private let file: URL

    /// A file with a hole for all of its gibibyte.
    init() throws {
        folder = try TemporaryFolder()
        file = try folder.write("", to: "large")
        try Self.resize(file, Self.size)
    }

    private static func resize(_ file: URL, _ size: Int) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
    }

    private func load(
        onFirst: @escaping @Sendable (URLSessionTask) -> Void = { _ in }
    ) async throws -> (count: Int, code: URLError.Code?) {
        let counter = Counter(onFirst: onFirst)
        let session = URLSession(configuration: .ephemeral, delegate: counter, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let file = file
        let code = try await withTimeout {
            session.dataTask(with: file).resume()
            return await counter.done.element(at: 0) ?? nil
        }
        try await Loading.waitUntilClosed(file)
        return (counter.received.value, code)
    }

    @Test func aGibibyteIsNeverHeldWhole() async throws {
        try ResidentMemory.resetPeak()
        let before = try ResidentMemory.current()
        let (count, code) = try await load()
        #expect(count == Self.size && code == nil)
        // The bound leaves room for other tests of this process.
        #expect(try ResidentMemory.peak() - before < 768 << 20)
    }

    @Test func cancelledInTheMiddle() async throws {
        let (count, code) = try await load { $0.cancel() }
        #expect(code == .cancelled && count > 0 && count < Self.size)
    }

    @Test func cutShortWhileItIsRead() async throws {
        let (count, code) = try await load { [file] _ in try? Self.resize(file, 10) }
        #expect(code == .networkConnectionLost && count > 0 && count < Self.size)
    }

    /// The delivered bytes are as many as the response announced.
    @Test func grownWhileItIsRead() async throws {
        try Self.resize(file, 5 << 20)
        let (count, code) = try await load { [file] _ in try? Self.resize(file, 10 << 20) }
        #expect(code == nil && count == 5 << 20)
    }

    @Test func removedWhileItIsRead() async throws {
        try Self.resize(file, 5 << 20)
        let (count, code) = try await load { [file] _ in try? FileManager.default.removeItem(at: file) }
        #expect(code == nil && count == 5 << 20)
    }

    @Test func bytesThatAreNotReadToTheirEnd() async throws {
        let file = file
        try await withTimeout {
            var count = 0
            for try await _ in try await Loading.session.bytes(from: file).0 {
                count += 1
                if count == 300_000 { break }
            }
            #expect(count == 300_000)
        }
        try await Loading.waitUntilClosed(file)
    }
}
