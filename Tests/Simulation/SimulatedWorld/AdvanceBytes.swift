@testable import LoadingKitHTTP

/// The bytes that servers may send in advance over HTTP/2, over all connections: none where there is no connection.
enum AdvanceBytes {
    static var count: Int {
        let limit = 1 << 40
        // Half of what is left.
        let half = WindowBudget.shared.take(limit, limit: limit)
        WindowBudget.shared.giveBack(half)
        return limit - 2 * half
    }
}
