/// Pauses in seconds. Each pause is twice as long as the one before, up to an upper bound.
struct DoublingPause: Equatable, Sendable {
    private let first: Double
    private let longest: Double
    private var current: Double

    init(from first: Double, to longest: Double) {
        (self.first, self.longest, current) = (first, longest, first)
    }

    mutating func next() -> Double {
        defer { current = min(current * 2, longest) }
        return current
    }

    mutating func reset() { current = first }
}
