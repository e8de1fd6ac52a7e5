import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// A time of day that changes only when a test moves it.
final class TestWallClock: Sendable {
    private let date = Guarded(Date(timeIntervalSince1970: 1_700_000_000))

    var now: Date { date.withLock { $0 } }

    func advance(by seconds: TimeInterval) { date.withLock { $0 += seconds } }

    var wallClock: WallClock { WallClock { self.now } }
}
