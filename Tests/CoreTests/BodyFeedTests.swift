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
            #expect(first?.count == 100_000)
            #expect(feed.append(Data(count: 1000)) == .wait)
            #expect(!demanded.hasFired)
            let second = try await reader.next(isolation: nil)
            #expect(second?.count == 200_000)
            await demanded.wait()
        }
    }
}
