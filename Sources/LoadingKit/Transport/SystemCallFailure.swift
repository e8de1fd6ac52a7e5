import Glibc

/// A system call that failed.
package struct SystemCallFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which call.
    package var name: SystemCalls.Name
    /// Its `errno`.
    package var code: Int32

    /// Whether the process, or the system, has as many descriptors open as it may.
    var isLackOfDescriptors: Bool { code == EMFILE || code == ENFILE }

    package var description: String { "\(name.rawValue): \(SystemCalls.text(ofError: code))" }
}
