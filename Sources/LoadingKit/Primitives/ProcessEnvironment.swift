import Glibc

/// The variables of the process's environment, one at a time. `ProcessInfo.environment` copies all of them whenever it
/// is asked.
package enum ProcessEnvironment {
    /// A variable's present value; nil if the variable is not set.
    package static func value(of name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
