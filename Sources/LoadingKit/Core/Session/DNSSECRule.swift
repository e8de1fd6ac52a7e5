import Foundation
import LoadingKitTransport

/// Refuses names that a proxy resolves, where DNSSEC validation is required: their validation cannot be verified.
///
/// The ``Resolver`` validates names that are resolved locally.
package enum DNSSECRule {
    /// - Parameter host: the proxy's target: a name or an address, without brackets.
    package static func checkProxied(_ host: String, over use: NetworkUse) throws(LoadFailure) {
        guard use.requiresDNSSEC, IPAddress(withoutZone: host) == nil, !LocalHost.isThisMachine(host) else { return }
        throw LoadFailure(
            .dnsLookupFailed,
            "\(host) must be validated by DNSSEC (requiresDNSSECValidation), and is looked up by a proxy, which does not say whether "
                + "it was: use no proxy for it")
    }
}
