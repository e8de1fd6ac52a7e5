/// A task's own delegate that may decide about connections. They are only for its tasks: another delegate might not trust
/// the server, or might provide another client identity.
package final class ConnectionDecider: Hashable, @unchecked Sendable {  // set once; weak references are read atomically
    /// Nil after the delegate is deallocated.
    package private(set) weak var delegate: AnyObject?
    /// Another object may have this identity after the delegate is deallocated.
    package let identity: ObjectIdentifier

    package init(_ delegate: AnyObject) {
        self.delegate = delegate
        identity = ObjectIdentifier(delegate)
    }

    /// A delegate that no longer exists equals no other, as another object may be at its address in memory.
    package static func isSame(_ left: ConnectionDecider?, _ right: ConnectionDecider?) -> Bool {
        if left === right { return true }
        guard let one = left?.delegate, let other = right?.delegate else { return false }
        return one === other
    }

    package static func == (left: ConnectionDecider, right: ConnectionDecider) -> Bool { isSame(left, right) }

    package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
