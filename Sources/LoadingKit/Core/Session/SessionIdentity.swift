import Synchronization

/// Identifies a session, so that a handler or an interceptor can separate the state of different sessions.
///
/// It is unique while the process runs, even after the session has ended, and holds no reference.
public struct SessionIdentity: Sendable, Hashable {
    private static let last = Atomic<Int>(0)

    /// The sessions of the process are counted from 1.
    package let number: Int

    /// A new identity.
    package init() { number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue }
}
