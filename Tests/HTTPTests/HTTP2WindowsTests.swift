import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

/// How windows follow what the way holds.
@Suite struct HTTP2WindowsTests {
    private static let millisecond: UInt64 = 1_000_000

    /// One measurement, of so many bytes in so many milliseconds.
    private func measure(
        _ windows: inout HTTP2Windows, _ now: inout MonotonicTime, bytes: Int, milliseconds: UInt64
    ) -> Bool {
        let begins = windows.received(bytes, now)
        #expect(begins)
        now = now.advanced(byNanoseconds: milliseconds * Self.millisecond)
        return windows.answered(now)
    }

    @Test func aLongFastWayNeedsLargeWindows() {
        var now = MonotonicTime(nanoseconds: 1)
        var windows = HTTP2Windows(now)
        windows.roundTrip(100 * Self.millisecond)
        var sizes = [windows.stream]
        // The window limits what comes in a round trip.
        while windows.stream < HTTP2Windows.maximumStream,
            measure(&windows, &now, bytes: windows.stream, milliseconds: 100)
        {
            sizes.append(windows.stream)
        }
        #expect(sizes == [8 << 20, 32 << 20, 64 << 20])
        #expect(windows.connection == HTTP2Windows.maximumConnection)
        let asksAgain = windows.received(1, now)
        #expect(!asksAgain, "there is nothing more to find out")
    }

    @Test func aShortWayDoesNot() {
        var now = MonotonicTime(nanoseconds: 1)
        var windows = HTTP2Windows(now)
        windows.roundTrip(Self.millisecond)
        // The PING's answer stands in line behind 30 MB.
        let grows = measure(&windows, &now, bytes: 30 << 20, milliseconds: 30)
        #expect(!grows)
        #expect(windows.stream == HTTP2Windows.initialStream)
        // Nor is it asked again at once.
        let isAskedAtOnce = windows.received(1, now)
        let isAskedLater = windows.received(1, now.advanced(byNanoseconds: 600 * Self.millisecond))
        #expect(!isAskedAtOnce && isAskedLater)
    }

    @Test func aSlowWayDoesNot() {
        var now = MonotonicTime(nanoseconds: 1)
        var windows = HTTP2Windows(now)
        let grows = measure(&windows, &now, bytes: 100_000, milliseconds: 200)
        let growsUnasked = windows.answered(now)
        #expect(!grows && !growsUnasked)
        #expect(windows.stream == HTTP2Windows.initialStream)
    }
}
