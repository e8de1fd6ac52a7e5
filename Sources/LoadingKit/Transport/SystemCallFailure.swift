/// A system call that failed.
package struct SystemCallFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which call.
    package var name: SystemCalls.Name
    /// Its `errno`.
    package var code: Int32

    package var description: String { "\(name.rawValue): \(SystemCalls.text(ofError: code))" }
}
