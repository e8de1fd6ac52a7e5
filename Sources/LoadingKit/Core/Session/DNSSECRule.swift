import Foundation
import LoadingKitTransport

/// A name that a proxy looks up is not known to be validated: where it must be, it is refused.
///
/// Names that are looked up here are validated by the ``Resolver``.
package enum DNSSECRule {
    /// - Parameter host: what the proxy is to connect to: a name or an address, without brackets.
    package static func checkProxied(_ host: String, over use: NetworkUse) throws(LoadFailure) {
        guard use.requiresDNSSEC, IPAddress(withoutZone: host) == nil, !LocalHost.isThisMachine(host) else { return }
        throw LoadFailure(
            .dnsLookupFailed,
            "\(host) must be validated by DNSSEC (requiresDNSSECValidation), and is looked up by a proxy, which does not say whether "
                + "it was: use no proxy for it")
    }
}
