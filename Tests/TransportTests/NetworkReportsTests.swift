import LoadingKitPrimitives
import LoadingKitTransport
import Testing

@Suite struct NetworkReportsTests {
    /// A change that follows another at once, as an address that comes after one has gone, is not kept back.
    @Test func aFewChangesAreReportedAtOnceAndManyAreNot() {
        var reports = NetworkReports()
        let reported = [0.0, 0.5, 2, 3, 15, 100].map { seconds in
            let time = reports.next(after: MonotonicTime(nanoseconds: 1_000_000_000).advanced(bySeconds: seconds))
            reports.note(time)
            return time.seconds(since: MonotonicTime(nanoseconds: 1_000_000_000))
        }
        #expect(zip(reported, [0.1, 0.6, 2.1, 15.1, 15.6, 100.1]).allSatisfy { abs($0 - $1) < 0.001 }, "\(reported)")
    }
}
