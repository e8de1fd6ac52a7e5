import Glibc

/// A system call on a socket or a thread that failed.
package struct SocketError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The call, such as "bind".
    package var operation: String
    /// `errno`.
    package var code: Int32

    package var description: String {
        "\(operation): \(String(cString: strerror(code)))"
    }

    package init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// With the `errno` that the call just left.
    init(_ operation: String) {
        self.init(operation: operation, code: errno)
    }
}
