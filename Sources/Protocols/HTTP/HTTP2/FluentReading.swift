import LoadingKitPrimitives

/// Decides when a stream needs a larger window: where its reader takes many bytes on arrival in a short time. A slow
/// stream needs none, however long it is, and would keep its part of the process's ``WindowBudget`` until its end.
struct FluentReading {
    /// The longest time of a run, in nanoseconds. Then the bytes are counted anew.
    private static let longestRun: UInt64 = 2_000_000_000

    /// The bytes that the reader took on arrival since the window grew, or since the reader was held back.
    private var taken = 0
    /// The time of the first of them.
    private var start = MonotonicTime(nanoseconds: 0)

    /// Counts bytes that the reader took on arrival. Returns the size of a larger window if they justify one.
    mutating func noteTaken(_ count: Int, window: Int, _ now: MonotonicTime) -> Int? {
        if taken == 0 || now.nanoseconds(since: start) > Self.longestRun { (taken, start) = (0, now) }
        taken += count
        let isTested = window >= BandwidthEstimator.testedStream
        guard taken >= (isTested ? BandwidthEstimator.testedStream : window / 2) else { return nil }
        taken = 0
        return isTested ? BandwidthEstimator.fluentStream : BandwidthEstimator.testedStream
    }

    mutating func readerWasHeldBack() { taken = 0 }
}
