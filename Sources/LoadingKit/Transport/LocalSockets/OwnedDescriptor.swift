/// A descriptor that is closed with its last reference.
package final class OwnedDescriptor: Sendable {
    package let number: Int32

    /// Takes over a descriptor.
    package init(_ number: Int32) { self.number = number }

    /// Duplicates a descriptor, so that the other one may be closed.
    package static func duplicating(_ number: Int32) -> Result<OwnedDescriptor, SystemCallFailure> {
        let result = SystemCalls.duplicate(number)
        guard result >= 0 else { return .failure(SystemCallFailure(name: .fcntl, code: Int32(clamping: -result))) }
        return .success(OwnedDescriptor(Int32(clamping: result)))
    }

    deinit { SystemCalls.close(number) }
}
