import Foundation

/// The persistent store of the hosts that must be reached by `https` only. Thread-safe.
package protocol HSTSPersistence: Sendable {
    /// The stored policies, by host. Throws where they cannot be read. May block.
    func load() throws -> [String: HSTSPolicy]

    /// A value that changes when another process changes the stored policies; nil for a store without versions, and
    /// where nothing is stored. May block.
    func version() throws -> String?

    /// Saves changes, in the order of the calls. Does not block.
    func save(_ change: HSTSChange)

    /// Calls `completion`, on any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}

extension HSTSPersistence {
    package func version() throws -> String? { nil }
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
