import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

/// How windows follow what the way holds.
@Suite struct BandwidthEstimatorTests {
    private static let millisecond: UInt64 = 1_000_000

    /// One measurement, of so many bytes in so many milliseconds.
    private func measure(
        _ bandwidth: inout BandwidthEstimator, _ now: inout MonotonicTime, bytes: Int, milliseconds: UInt64
    ) -> Bool {
        let begins = bandwidth.didReceive(bytes, now)
        #expect(begins)
        now = now.advanced(byNanoseconds: milliseconds * Self.millisecond)
        return bandwidth.pingWasAnswered(now)
    }

    @Test func aLongFastWayNeedsLargeWindows() {
        var now = MonotonicTime(nanoseconds: 1)
        var bandwidth = BandwidthEstimator(now)
        bandwidth.didMeasureRoundTrip(100 * Self.millisecond)
        var sizes = [bandwidth.stream]
        // The window limits what comes in a round trip.
        while bandwidth.stream < BandwidthEstimator.maximumStream,
            measure(&bandwidth, &now, bytes: bandwidth.stream, milliseconds: 100)
        {
            sizes.append(bandwidth.stream)
        }
        #expect(sizes == [8 << 20, 32 << 20, 64 << 20])
        #expect(bandwidth.connection == BandwidthEstimator.maximumConnection)
        let asksAgain = bandwidth.didReceive(1, now)
        #expect(!asksAgain, "there is nothing more to find out")
    }

    @Test func aShortWayDoesNot() {
        var now = MonotonicTime(nanoseconds: 1)
        var bandwidth = BandwidthEstimator(now)
        bandwidth.didMeasureRoundTrip(Self.millisecond)
        // The PING's answer stands in line behind 30 MB.
        let grows = measure(&bandwidth, &now, bytes: 30 << 20, milliseconds: 30)
        #expect(!grows)
        #expect(bandwidth.stream == BandwidthEstimator.initialStream)
        // Nor is it asked again at once.
        let isAskedAtOnce = bandwidth.didReceive(1, now)
        let isAskedLater = bandwidth.didReceive(1, now.advanced(byNanoseconds: 600 * Self.millisecond))
        #expect(!isAskedAtOnce && isAskedLater)
    }

    @Test func aSlowWayDoesNot() {
        var now = MonotonicTime(nanoseconds: 1)
        var bandwidth = BandwidthEstimator(now)
        let grows = measure(&bandwidth, &now, bytes: 100_000, milliseconds: 200)
        let growsUnasked = bandwidth.pingWasAnswered(now)
        #expect(!grows && !growsUnasked)
        #expect(bandwidth.stream == BandwidthEstimator.initialStream)
    }
}
