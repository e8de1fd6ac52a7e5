import Foundation

/// Where the hosts that are to be reached by `https` alone are kept when the program does not run. Any thread may use it.
package protocol HSTSPersistence: Sendable {
    /// The policies that are kept, by host. May block.
    func load() -> [String: HSTSPolicy]

    /// Keeps changes, in the order of the calls. Does not block.
    func save(_ change: HSTSChange)

    /// Calls back, from any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}

/// The policy that a host has announced.
package struct HSTSPolicy: Sendable, Hashable {
    package let end: Date
    package let includesSubdomains: Bool

    package init(end: Date, includesSubdomains: Bool) {
        self.end = end
        self.includesSubdomains = includesSubdomains
    }
}

package enum HSTSChange: Sendable {
    case keep(HSTSPolicy, host: String)
    case forget(host: String)
    case forgetAll
}
