import Foundation

/// The persistent store of the hosts that must be reached by `https` only. Thread-safe.
package protocol HSTSPersistence: Sendable {
    /// The stored policies, by host. May block.
    func load() -> [String: HSTSPolicy]

    /// Saves changes, in the order of the calls. Does not block.
    func save(_ change: HSTSChange)

    /// Calls `completion`, on any thread, when all changes are on disk or could not be written.
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
