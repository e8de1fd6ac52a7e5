import LoadingKitHTTP2
import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

/// How windows follow what the way holds.
@Suite struct BandwidthEstimatorTests {
    private static let millisecond: UInt64 = 1_000_000
    private static let fluent = BandwidthEstimator.fluentStream

    /// One measurement, of so many bytes in so many milliseconds.
    private func measure(
        _ bandwidth: inout BandwidthEstimator, _ now: inout MonotonicTime, bytes: Int, milliseconds: UInt64
    ) -> BandwidthEstimator.Finding? {
        let begins = bandwidth.readerDidTake(bytes, of: 1, window: Self.fluent, now)
        #expect(begins)
        now = now.advanced(byNanoseconds: milliseconds * Self.millisecond)
        return bandwidth.pingWasAnswered(now)
    }

    @Test func whatComesInARoundTripIsOnTheWay() {
        var now = MonotonicTime(nanoseconds: 1)
        var bandwidth = BandwidthEstimator(now)
        bandwidth.didMeasureRoundTrip(100 * Self.millisecond)
        let first = measure(&bandwidth, &now, bytes: Self.fluent, milliseconds: 100)
        #expect(first == BandwidthEstimator.Finding(stream: 1, onTheWay: Self.fluent))
        // The larger window may be too small, too.
        bandwidth.windowDidGrow(now)
        let second = measure(&bandwidth, &now, bytes: 4 * Self.fluent, milliseconds: 100)
        #expect(second?.onTheWay == 4 * Self.fluent)
        let asksAgain = bandwidth.readerDidTake(1, of: 1, window: BandwidthEstimator.maximumStream, now)
        #expect(!asksAgain, "there is nothing more to find out")
    }

    @Test func ofAShortWayThePINGsAnswerStandsInLine() {
        var now = MonotonicTime(nanoseconds: 1)
        var bandwidth = BandwidthEstimator(now)
        bandwidth.didMeasureRoundTrip(Self.millisecond)
        let finding = measure(&bandwidth, &now, bytes: 30 << 20, milliseconds: 30)
        #expect(finding?.onTheWay == 1 << 20)
        // Nor is it asked again at once.
        let isAskedAtOnce = bandwidth.readerDidTake(1, of: 1, window: Self.fluent, now)
        let later = now.advanced(byNanoseconds: 600 * Self.millisecond)
        let isAskedLater = bandwidth.readerDidTake(1, of: 1, window: Self.fluent, later)
        #expect(!isAskedAtOnce && isAskedLater)
    }

    /// A stream is sized by its own bytes, whatever comes for the others.
    @Test func theOthersBytesDoNotCount() {
        var now = MonotonicTime(nanoseconds: 1)
        var bandwidth = BandwidthEstimator(now)
        let begins = bandwidth.readerDidTake(1000, of: 3, window: Self.fluent, now)
        let beginsForAnother = bandwidth.readerDidTake(1 << 30, of: 5, window: Self.fluent, now)
        #expect(begins && !beginsForAnother)
        now = now.advanced(byNanoseconds: 100 * Self.millisecond)
        #expect(bandwidth.pingWasAnswered(now) == BandwidthEstimator.Finding(stream: 3, onTheWay: 1000))
        #expect(bandwidth.pingWasAnswered(now) == nil, "nothing is measured")
    }

    /// As long as its window has not grown to what is usual, it is not worth a PING.
    @Test func aSmallWindowIsNotMeasured() {
        let now = MonotonicTime(nanoseconds: 1)
        var bandwidth = BandwidthEstimator(now)
        let begins = bandwidth.readerDidTake(1000, of: 1, window: BandwidthEstimator.initialStream, now)
        #expect(!begins)
    }
}
