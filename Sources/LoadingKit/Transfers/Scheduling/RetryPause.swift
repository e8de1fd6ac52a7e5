/// How long a transfer waits after failures: anything up to a bound that doubles ("full jitter"), so that the transfers that
/// one failure has broken do not all come back together.
enum RetryPause {
    private static let first = 1.0
    static let longest = 300.0

    /// In seconds.
    ///
    /// - Parameters:
    ///   - failures: Attempts that have failed one after the other, from 1.
    ///   - randomness: From 0 to 1.
    static func seconds(after failures: Int, _ randomness: Double) -> Double {
        var (bound, left) = (first, failures)
        while left > 1, bound < longest { (bound, left) = (bound * 2, left - 1) }
        return min(bound, longest) * min(max(randomness, 0), 1)
    }
}
