/// A server that tests need is not installed. The text is the command that changes it.
package struct MissingProgram: Error, Sendable, Equatable, CustomStringConvertible {
    package var program: String
    /// The package of Debian and Ubuntu that holds it.
    package var aptPackage: String

    package init(program: String, aptPackage: String) {
        self.program = program
        self.aptPackage = aptPackage
    }

    package var description: String {
        "\(program) is not installed. Install it with: sudo apt-get install -y \(aptPackage)"
    }
}
