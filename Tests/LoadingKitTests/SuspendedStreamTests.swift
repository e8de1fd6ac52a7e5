import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// The timeouts of a stream task's reads and writes do not run while the task is suspended.
@Suite struct SuspendedStreamTests {
    /// The code of a read's or write's error; 0 for none.
    private typealias Results = Recorder<Int>

    /// - Parameter isLate: whether the time that is left passes after the suspension.
    @Test(arguments: [false, true]) func aReadsTimeStandsStill(isLate: Bool) async throws {
        let go = Signal()
        try await Self.withTask([.send("!"), .waitFor(go), .send("data"), .hold]) { task, pass in
            let results = Results()
            task.readData(ofMinLength: 4, maxLength: 4, timeout: 3) { results.append(Self.code($2)) }
            await pass(2)
            task.suspend()
            await pass(4)
            task.resume()
            if isLate { await pass(2) } else { go.fire() }
            #expect(await results.element(at: 0) == (isLate ? URLError.timedOut.rawValue : 0))
        }
    }

    /// One that was sent in part, whose timeout would end the task.
    @Test func aWritesTimeStandsStill() async throws {
        let (go, count) = (Signal(), 32 << 20)
        try await Self.withTask([.send("!"), .waitFor(go), .expectBytes(count), .hold]) { task, pass in
            let results = Results()
            task.write(Data(count: count), timeout: 3) { results.append(Self.code($0)) }
            await pass(0)
            task.suspend()
            await pass(4)
            task.resume()
            go.fire()
            #expect(await results.element(at: 0) == 0)
            #expect(task.countOfBytesSent == Int64(count))
        }
    }

    /// Runs `body` with a task whose peer has sent one byte, which is read, and with a function that lets seconds pass once
    /// the session's loop has done what came before.
    private static func withTask(
        _ script: [ScriptedPeer.Step],
        _ body: @escaping @Sendable (URLSessionStreamTask, (Int) async -> Void) async throws -> Void
    ) async throws {
        let peer = try ScriptedPeer(script)
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "streams", time: .manual(time))
        defer { loop.stop() }
        try await withTimeout {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            let session = URLSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: loop)
            defer { session.invalidateAndCancel() }
            let task = session.streamTask(withHostName: "127.0.0.1", port: Int(try #require(peer.address.port)))
            task.resume()
            let (data, _) = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
            #expect(data == Data("!".utf8))
            try await body(task) { seconds in
                await Self.finishWork(of: loop)
                time.advance(by: .seconds(seconds))
                await Self.finishWork(of: loop)
            }
        }
    }

    private static func finishWork(of loop: EventLoop) async {
        await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
    }

    private static func code(_ error: (any Error)?) -> Int { (error as? URLError)?.code.rawValue ?? 0 }
}
