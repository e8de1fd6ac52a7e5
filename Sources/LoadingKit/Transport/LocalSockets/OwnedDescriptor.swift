/// A descriptor that is closed when its last reference goes.
package final class OwnedDescriptor: Sendable {
    package let number: Int32

    /// Takes a descriptor over.
    package init(_ number: Int32) { self.number = number }

    /// The same open file by a number of its own, so that the other one may be closed.
    package static func duplicating(_ number: Int32) -> Result<OwnedDescriptor, SystemCallFailure> {
        let result = SystemCalls.duplicate(number)
        guard result >= 0 else { return .failure(SystemCallFailure(name: .fcntl, code: Int32(clamping: -result))) }
        return .success(OwnedDescriptor(Int32(clamping: result)))
    }

    deinit { SystemCalls.close(number) }
}
