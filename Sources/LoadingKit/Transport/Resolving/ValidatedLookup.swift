import CLoadingKitShims
import Glibc

extension Resolver {
    /// Uses only the system's name servers, and returns the addresses that they report as validated by DNSSEC. Blocks.
    ///
    /// The system's settings must state that the servers are trusted: `options trust-ad` in `/etc/resolv.conf`, for a
    /// server on this machine or behind a path that an attacker cannot modify (RFC 4035 §4.9.3, resolv.conf(5)).
    /// `/etc/hosts` and other sources of names are not used, as their entries are not validated.
    package static let systemValidatedLookup: Lookup = { name, family in
        let size = family == .v4 ? 4 : 16
        var bytes = [UInt8](repeating: 0, count: maximumAddresses * size)
        var count = 0
        let result = lk_look_up_validated(name, family.number, &bytes, maximumAddresses, &count)
        let answer: Answer =
            switch result {
            case lk_lookup_found:
                .success(
                    (0..<min(count, maximumAddresses)).compactMap {
                        IPAddress(bytes: bytes[($0 * size)..<(($0 + 1) * size)])
                    })
            case lk_lookup_not_found: .failure(.notFound("no such name, or no address"))
            case lk_lookup_not_validated: .failure(.notValidated("the name server has not validated its answer"))
            case lk_lookup_not_trusted:
                .failure(
                    .notValidated(
                        "the system does not trust its name server to validate: where it does, /etc/resolv.conf has "
                            + "the line “options trust-ad”"))
            case _: .failure(.failed("the name server does not answer, or has found that its answer is not valid"))
            }
        return answer.mapError { cause(of: $0) }
    }
}
