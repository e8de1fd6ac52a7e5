/// A descriptor that is closed with its last reference.
package final class OwnedDescriptor: Sendable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    deinit { SystemCalls.close(number) }
}
