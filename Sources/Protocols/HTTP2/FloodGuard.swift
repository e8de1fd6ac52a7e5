/// Tells floods from use without a clock: what does nothing by itself costs credit, useful work fills it again.
struct FloodGuard {
    private let limit: Int
    private var credit: Int

    init(limit: Int) {
        self.limit = limit
        credit = limit
    }

    /// Takes `cost`; an error when the credit is used up.
    @inline(__always)
    mutating func charge(_ cost: Int = 1) throws(HTTP2Error) {
        credit -= cost
        if credit < 0 { throw HTTP2Error(.controlFlood) }
    }

    /// Gives credit back, up to the limit.
    @inline(__always)
    mutating func refill(_ amount: Int) { credit = min(limit, credit &+ max(0, amount)) }
}
