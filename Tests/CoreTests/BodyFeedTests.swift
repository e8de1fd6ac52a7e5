import Foundation
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// What holds a load back while nobody reads, and lets it go on.
@Suite struct BodyFeedTests {
    /// A load that gives more after it was told to wait is still told when the reader has caught up.
    @Test func aReaderThatIsBehindStaysNoted() async throws {
        let loop = EventLoop(name: "test")
        defer { loop.stop() }
        let (feed, demanded) = (BodyFeed(loop), Signal())
        let reader = BodyReader(feed)
        await withCheckedContinuation { continuation in
            loop.execute {
                feed.onDemand = { demanded.fire() }
                continuation.resume()
            }
        }
        #expect(feed.append(Data(count: 100_000)) == .more)
        #expect(feed.append(Data(count: 200_000)) == .wait)
        try await withTimeout {
            let first = try await reader.next(isolation: nil)
            #expect(first?.count == 65_536)
            #expect(feed.append(Data(count: 1000)) == .wait)
            #expect(!demanded.hasFired)
            var count = 0
            while count < 235_464, let piece = try await reader.next(isolation: nil) {
                #expect(piece.count <= 65_536)
                count += piece.count
            }
            #expect(count == 235_464)
            await demanded.wait()
        }
    }

    /// None of them waits for ever.
    @Test(arguments: [false, true]) func severalReadAtOnce(fails: Bool) async throws {
        let loop = EventLoop(name: "test")
        defer { loop.stop() }
        let feed = BodyFeed(loop)
        let reader = BodyReader(feed)
        let (results, begun) = (Recorder<Data?>(), Recorder<Int>())
        try await withTimeout {
            let tasks = (0..<4).map { number in
                Task {
                    begun.append(number)
                    results.append(try? await reader.next(isolation: nil))
                }
            }
            _ = await begun.count(reaches: 4)
            for _ in 0..<20 { await Task.yield() }
            _ = feed.append(Data("a".utf8))
            _ = feed.append(Data("b".utf8))
            _ = await results.count(reaches: 2)
            feed.finish(fails ? URLError(.networkConnectionLost) : nil)
            for task in tasks { await task.value }
            #expect(Set(results.snapshot.compactMap { $0 }) == [Data("a".utf8), Data("b".utf8)])
        }
    }

    /// A busy load always has a piece that waits.
    @Test(arguments: [false, true]) func aCancelledReaderGetsNoPieceThatWaits(isLoaded: Bool) async throws {
        let loop = EventLoop(name: "test")
        defer { loop.stop() }
        let (feed, ended) = (BodyFeed(loop), Signal())
        let reader = BodyReader(feed)
        await withCheckedContinuation { continuation in
            loop.execute {
                feed.onCancel = { ended.fire() }
                continuation.resume()
            }
        }
        _ = feed.append(Data("a".utf8))
        _ = feed.append(Data("b".utf8))
        if isLoaded { feed.finish(nil) }
        try await withTimeout {
            let task = Task {
                let first = try await reader.next(isolation: nil)
                #expect(first == Data("a".utf8))
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await reader.next(isolation: nil)
            }
            let error = await #expect(throws: URLError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            if !isLoaded { await ended.wait() }
        }
    }

    /// Nothing was missed.
    @Test func aReaderThatIsCancelledAtTheEndIsGivenTheEnd() async throws {
        let loop = EventLoop(name: "test")
        defer { loop.stop() }
        let feed = BodyFeed(loop)
        let reader = BodyReader(feed)
        feed.finish(nil)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await reader.next(isolation: nil)
        }
        #expect(try await task.value == nil)
    }
}
