/// A server's process that could not be started, or that ended before it accepted connections.
package struct ServerProcessError: Error, Sendable, CustomStringConvertible {
    package var program: String
    package var problem: String
    /// Its standard output and error.
    package var output = ""

    package var description: String {
        output.isEmpty ? "\(program): \(problem)" : "\(program): \(problem)\n\(output)"
    }
}
