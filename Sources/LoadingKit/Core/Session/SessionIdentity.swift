import Synchronization

/// Tells the loads of one session from those of another, for what a handler or an interceptor keeps.
///
/// It is the session's alone while the process runs, also when the session is gone, and holds nothing.
public struct SessionIdentity: Sendable, Hashable {
    private static let last = Atomic<UInt64>(0)

    private let number: UInt64

    /// A new one.
    init() { number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue }
}
