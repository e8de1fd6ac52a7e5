import LoadingKitPrimitives

/// Lets a transfer's progress through ten times a second at most.
struct ProgressThrottle {
    static let interval: UInt64 = 100_000_000

    enum Verdict: Equatable {
        case report
        case wait(until: MonotonicTime)
        /// A report is on its way already.
        case waiting
    }

    private var last: MonotonicTime?
    private var isWaiting = false

    mutating func didProgress(_ now: MonotonicTime) -> Verdict {
        if isWaiting { return .waiting }
        if let last, last.advanced(byNanoseconds: Self.interval) > now {
            isWaiting = true
            return .wait(until: last.advanced(byNanoseconds: Self.interval))
        }
        last = now
        return .report
    }

    mutating func waitDidEnd(_ now: MonotonicTime) {
        isWaiting = false
        last = now
    }
}
