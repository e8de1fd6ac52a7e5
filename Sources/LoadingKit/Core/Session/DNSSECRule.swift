import Foundation
import LoadingKitTransport

/// What the system's resolver finds is not known to be validated: what must be, is refused.
package enum DNSSECRule {
    /// - Parameter host: a name or an address, without brackets.
    package static func check(_ host: String, isRequired: Bool) throws(LoadFailure) {
        guard isRequired, IPAddress(withoutZone: host) == nil, !LocalHost.isThisMachine(host) else { return }
        throw LoadFailure(
            .dnsLookupFailed,
            "\(host) must be validated by DNSSEC (requiresDNSSECValidation), and the system's resolver does not say whether it was"
        )
    }
}
