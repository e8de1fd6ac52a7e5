import CLoadingKitShims
import Glibc

/// The variables of the process's environment, one at a time. `ProcessInfo.environment` copies all of them whenever it
/// is asked.
package enum ProcessEnvironment {
    /// A variable's present value; nil if the variable is not set.
    package static func value(of name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Whether the program has other rights than its caller, who sets the variables: by its set-user-ID or set-group-ID
    /// bit, or by capabilities.
    package static let isSetID = lk_is_set_id() != 0

    /// The value of a variable by which a caller could get the program's rights or secrets; nil in a set-ID program, as
    /// with secure_getenv(3).
    package static func secureValue(of name: String, isSetID: Bool = ProcessEnvironment.isSetID) -> String? {
        isSetID ? nil : value(of: name)
    }
}
