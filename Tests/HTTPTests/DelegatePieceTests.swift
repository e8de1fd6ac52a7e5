import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The pieces of a body of which more arrives than the delegate has taken, over both versions.
@Suite struct DelegatePieceTests {
    /// The body. Bytes that are in another place than they should be are noticed.
    private static let body: Data = {
        var data = Data((0..<251).map { UInt8($0) })
        while data.count < 8 << 20 { data.append(data) }
        return data
    }()
    /// The largest number of bytes that wait for a delegate: its mailbox, a chunk, and what one read brings.
    private static let mostHeld = (1 << 20) + (512 << 10)

    /// Keeps the pieces, and calls a closure with each of them.
    private final class Keeper: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // on the delegate queue
        private(set) var pieces: [Data] = []
        private(set) var count = 0
        /// Called with the number of the bytes before the piece.
        private let onPiece: @Sendable (URLSessionTask, Int) -> Void
        let ended = Recorder<URLError.Code?>()

        init(onPiece: @escaping @Sendable (URLSessionTask, Int) -> Void = { _, _ in }) { self.onPiece = onPiece }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            #expect(data == DelegatePieceTests.body[count..<min(count + data.count, DelegatePieceTests.body.count)])
            pieces.append(data)
            count += data.count
            onPiece(dataTask, count - data.count)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ended.append((error as? URLError)?.code)
        }
    }

    /// Loads the body with a task that reports to `keeper`, and calls `meanwhile` after the task's beginning.
    private static func load(
        _ version: String, _ keeper: Keeper,
        meanwhile: @escaping @Sendable (URLSession, LoopbackServer, URLSessionTask) async throws -> Void = {
            _, _, _ in
        }
    ) async throws -> URLError.Code? {
        let code = Box<URLError.Code?>(nil)
        try await BothVersions.withServer(
            version,
            { request in
                guard request.path == "/body" else { return .text("beside") }
                return .stream(.length(UInt64(body.count))) { writer in
                    try body.withUnsafeBytes { bytes in
                        for start in stride(from: 0, to: bytes.count, by: 50_000) {
                            try writer.write(UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(50_000)))
                        }
                    }
                }
            },
            body: { session, server in
                let task = session.dataTask(with: try BothVersions.request(server, "/body"))
                task.delegate = keeper
                task.resume()
                try await meanwhile(session, server, task)
                code.value = await keeper.ended.element(at: 0) ?? nil
            })
        return code.value
    }

    /// Memory is used for other pieces only when a piece was released.
    @Test(arguments: BothVersions.all) func allPiecesMayBeKept(version: String) async throws {
        let keeper = Keeper()
        #expect(try await Self.load(version, keeper) == nil)
        // `joined()` would take seconds, byte by byte, in which no other test goes on.
        #expect(keeper.pieces.reduce(into: Data()) { $0.append($1) } == Self.body)
    }

    @Test(arguments: BothVersions.all) func noPieceFollowsACancellation(version: String) async throws {
        let calls = Box(0)
        let keeper = Keeper { task, before in
            guard before > 1 << 20 else { return }
            calls.update { $0 += 1 }
            task.cancel()
        }
        #expect(try await Self.load(version, keeper) == .cancelled)
        #expect(calls.value == 1 && keeper.count < Self.body.count)
    }

    /// Over HTTP/2 the server would not answer the loads beside: it serves one stream after the other.
    @Test(arguments: ["http/1.1"]) func noPieceComesToASuspendedTask(version: String) async throws {
        let (isSuspended, suspended) = (Signal(), Box(0))
        let keeper = Keeper { task, before in
            guard before > 1 << 20, suspended.value == 0 else { return }
            task.suspend()
            suspended.value = before
            isSuspended.fire()
        }
        let code = try await Self.load(version, keeper) { session, server, task in
            await isSuspended.wait()
            let count = keeper.count
            try await session.settles(beside: server) { Int(task.countOfBytesReceived) }
            #expect(keeper.count == count)
            #expect(Int(task.countOfBytesReceived) - count <= Self.mostHeld)
            task.resume()
        }
        #expect(code == nil && keeper.count == Self.body.count)
    }

    /// Over HTTP/2 the server would not answer the loads beside: it serves one stream after the other.
    @Test(arguments: ["http/1.1"]) func aSlowDelegateStopsTheReading(version: String) async throws {
        let (hasBegun, mayGoOn) = (Signal(), DispatchSemaphore(value: 0))
        let keeper = Keeper { _, before in
            guard before == 0 else { return }
            hasBegun.fire()
            mayGoOn.wait()
        }
        let code = try await Self.load(version, keeper) { session, server, task in
            await hasBegun.wait()
            // However the test goes on, the delegate does, too.
            defer { mayGoOn.signal() }
            try await session.settles(beside: server) { Int(task.countOfBytesReceived) }
            #expect(Int(task.countOfBytesReceived) - keeper.count <= Self.mostHeld)
        }
        #expect(code == nil && keeper.count == Self.body.count)
    }
}
