import LoadingKitPrimitives

/// Decides whether results are told at once, or together with those that are about to come.
///
/// To wake another thread costs more than most results do, so where they come in quick succession and many are still
/// awaited the loop pauses for a moment before it tells of them: what network cards do with their interrupts. A pause
/// that brings nothing ends that, so that a result is late by one short pause at most where it was the last for now.
struct ResultPacing {
    /// How long a pause is, in nanoseconds.
    static let pause: UInt64 = 40_000
    /// So many pauses in a row at most.
    private static let maximumPauses = 6
    /// So many results are told of without a further pause.
    private static let enough = 24
    /// Fewer results that are still awaited are not waited for: their server may be waiting for what follows from these.
    private static let many = 16
    /// Where results come less often than that, a pause would bring few: two or three at most. In nanoseconds.
    private static let quick: UInt64 = 20_000

    /// The mean time between results of late, in nanoseconds.
    private var interval: UInt64 = 1_000_000
    private var last = MonotonicTime(nanoseconds: 0)
    private var pauses = 0
    private var counted = 0

    /// Whether to pause before so many results are told of.
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
        // A long silence says no more than a short one.
        let each = min(now.nanoseconds(since: last), 1_000_000) / UInt64(count)
        last = now
        for _ in 0..<min(count, 16) { interval = (interval * 7 + each) / 8 }
    }
}
