import LoadingKitPrimitives

/// Decides whether results are delivered at once, or together with those that are about to arrive.
///
/// Waking another thread costs more than most results. If results arrive in quick succession and many are still
/// awaited, the loop pauses for a moment before it delivers them, as network cards do with their interrupts. A pause in
/// which no result arrives ends this, so the last result is late by at most one short pause.
struct ResultPacing {
    /// The length of a pause, in nanoseconds.
    static let pause: UInt64 = 40_000
    /// The largest number of pauses in a row.
    private static let maximumPauses = 6
    /// The number of results that are delivered without a further pause.
    private static let enough = 24
    /// If fewer results than this are awaited, there is no pause: the server may be waiting for requests that depend on
    /// the results so far.
    private static let many = 16
    /// The mean time between results above which there is no pause, in nanoseconds. At lower rates a pause would gain
    /// two or three results at most.
    private static let quick: UInt64 = 20_000

    /// The mean time between recent results, in nanoseconds.
    private var interval: UInt64 = 1_000_000
    private var last = MonotonicTime(nanoseconds: 0)
    private var pauses = 0
    private var counted = 0

    /// Whether to pause before this number of results is delivered.
    mutating func pauses(before results: Int, awaited: Int, now: MonotonicTime) -> Bool {
        guard results > 0 else { return false }
        let new = results - counted
        if new > 0 { note(new, now) }
        let pauses =
            results < Self.enough && awaited >= Self.many && interval < Self.quick && (new > 0 || counted == 0)
            && self.pauses < Self.maximumPauses
        counted = pauses ? results : 0
        self.pauses = pauses ? self.pauses + 1 : 0
        return pauses
    }

    private mutating func note(_ count: Int, _ now: MonotonicTime) {
        // A long silence counts no more than a short one.
        let each = min(now.nanoseconds(since: last), 1_000_000) / UInt64(count)
        last = now
        for _ in 0..<min(count, 16) { interval = (interval * 7 + each) / 8 }
    }
}
