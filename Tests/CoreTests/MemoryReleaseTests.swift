import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// When free memory goes back to the system: some time after the last session is gone, unless there is one again.
@Suite struct MemoryReleaseTests {
    enum Step: Sendable {
        case made, gone
        /// Shorter than the delay, or as long as it.
        case shortWhile, delay
    }

    /// For each row: what happens, and how often memory is released up to then.
    private static let rows: [(steps: [Step], releases: Int)] = [
        ([], 0),
        ([.delay], 0),
        ([.made, .delay], 0),
        ([.made, .gone, .shortWhile], 0),
        ([.made, .gone, .delay], 1),
        ([.made, .gone, .delay, .delay], 1),
        ([.made, .made, .gone, .delay], 0),
        ([.made, .made, .gone, .gone, .delay], 1),
        // One is there again when the time is over.
        ([.made, .gone, .shortWhile, .made, .delay], 0),
        ([.made, .gone, .shortWhile, .made, .delay, .gone, .delay], 1),
        // One after the other: one release for all of them.
        ([.made, .gone, .made, .gone, .made, .gone, .delay], 1),
        ([.made, .gone, .delay, .made, .gone, .delay], 2),
    ]

    @Test(arguments: rows.indices) func table(_ row: Int) async throws {
        let (time, releases) = (ManualTime(), Recorder<Int>())
        let loop = EventLoop(name: "release", time: .manual(time))
        defer { loop.stop() }
        let release = MemoryRelease({ loop }, { releases.append(1) })
        for step in Self.rows[row].steps {
            switch step {
            case .made: release.sessionWasMade()
            case .gone: release.sessionIsGone()
            case .shortWhile: time.advance(by: .seconds(MemoryRelease.delay / 2))
            case .delay: time.advance(by: .seconds(MemoryRelease.delay))
            }
            // Behind what the step has left for the loop.
            let done = Signal()
            loop.execute { done.fire() }
            try await withTimeout { await done.wait() }
        }
        #expect(releases.count == Self.rows[row].releases)
    }
}
