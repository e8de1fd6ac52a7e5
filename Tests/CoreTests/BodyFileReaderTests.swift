import Foundation
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite("A body from a file")
struct BodyFileReaderTests {
    /// The pieces of a body that the system has in memory, where reading them from there fails or is short.
    private struct Case: CustomTestStringConvertible, Sendable {
        let fault: FaultPlan.Fault
        /// The number of pieces that the thread pool reads. Nil: it depends on the file system.
        let readByPool: Int?
        var testDescription: String { "\(fault)" }
    }

    private static let cases = [
        Case(fault: .short(1 << 20), readByPool: nil), Case(fault: .short(100_000), readByPool: nil),
        Case(fault: .fail(EAGAIN), readByPool: 3), Case(fault: .fail(EOPNOTSUPP), readByPool: 3),
        Case(fault: .fail(ENOSYS), readByPool: 3), Case(fault: .fail(EIO), readByPool: 3),
        Case(fault: .short(0), readByPool: 3),
    ]

    @Test("is whole, whether its pieces come from memory or from the thread pool", arguments: cases)
    private func pieces(_ test: Case) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let text = (0..<100_000).map { "\($0) " }.joined()
        let file = try folder.write(text, to: "file")
        let plan = FaultPlan(.preadv2, .from(1), test.fault)
        let sent = try await Self.read(file, plan) { _ in }
        #expect(sent == Data(text.utf8))
        #expect(plan.injectedCount > 0)
        if let count = test.readByPool { #expect(plan.count(of: .pread) == count) }
    }

    @Test("ends with an error when the file is made shorter meanwhile")
    func shortened() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = try folder.write(String(repeating: "x", count: 600_000), to: "file")
        await #expect { try await Self.read(file, FaultPlan([])) { _ = truncate(file.path, off_t($0)) } } throws: {
            ($0 as? LoadFailure)?.code == .requestBodyStreamExhausted
        }
    }

    /// Reads on an event loop, as uploads do. `afterPiece` gets the number of bytes that are read.
    private static func read(
        _ url: URL, _ plan: FaultPlan, afterPiece: @escaping @Sendable (Int) -> Void
    ) async throws -> Data {
        let loop = EventLoop(name: "test")
        defer { loop.stop() }
        return try await withTimeout {
            loop.attach(plan)
            return try await Task(executorPreference: loop.executor) {
                let reader = BodyFileReader(BodyFile(url))
                var bytes = Data()
                while let piece = try await reader.read() {
                    bytes += piece
                    afterPiece(bytes.count)
                }
                return bytes
            }.value
        }
    }
}
