import Foundation

/// Where the hosts that are to be reached by `https` alone are kept when the program does not run. Any thread may use it.
package protocol StrictTransportPersistence: Sendable {
    /// What is kept. May block.
    func load() -> [String: StrictTransportPolicy]

    /// Keeps changes, in the order of the calls. Does not block.
    func save(_ change: StrictTransportChange)

    /// Calls back, from any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}

/// What a host has said.
package struct StrictTransportPolicy: Sendable, Hashable {
    package let end: Date
    package let includesSubdomains: Bool

    package init(end: Date, includesSubdomains: Bool) {
        self.end = end
        self.includesSubdomains = includesSubdomains
    }
}

package enum StrictTransportChange: Sendable {
    case keep(StrictTransportPolicy, host: String)
    case forget(host: String)
    case forgetAll
}
