import CLoadingKitOpenSSL
import LoadingKitPrimitives

/// The name constraints of a chain's authorities (RFC 5280 §4.2.1.10), compared with the host itself.
///
/// OpenSSL compares the constraints with the names in the server's certificate. A wildcard escapes this check: the name
/// `*.example.com` is not within `bar.example.com`, so an authority that excludes the latter may issue it, although the
/// certificate is then valid for the host `bar.example.com`.
struct NameConstraints {
    /// A subtree of names in a constraint.
    fileprivate struct Subtree {
        /// The suffix of a DNS name, or an address and its mask.
        let base: [UInt8]
        let isAddress: Bool
        /// Whether it contains distances, which RFC 5280 does not allow.
        let hasDistances: Bool
    }

    private let permitted: [Subtree]
    private let excluded: [Subtree]

    /// The failure if an authority of a verified chain must not certify the host; nil if each of them may.
    ///
    /// - Parameter chain: OpenSSL's list of certificates, the server's own first.
    static func failure(of host: PeerName, in chain: OpaquePointer?) -> CertificateFailure? {
        let certificates = OpenSSLValues.elements(of: chain)
        guard let leaf = certificates.first else { return nil }
        for authority in certificates.dropFirst() {
            guard let violation = violation(of: host, by: authority) else { continue }
            let name = Certificate.subject(of: authority)
            return CertificateFailure(
                violation.code, leaf, "the name constraints of the authority \(name) \(violation.text) \(host)")
        }
        return nil
    }

    private typealias Violation = (code: Int32, text: String)

    private static func violation(of host: PeerName, by authority: OpaquePointer) -> Violation? {
        var result: Int32 = 0
        guard let raw = X509_get_ext_d2i(authority, NID_name_constraints, &result, nil) else {
            // -1: the certificate has no constraints.
            return result == -1 ? nil : (X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX, "cannot be read, for the host")
        }
        let read = raw.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(read) }
        return NameConstraints(read.pointee).violation(of: host)
    }

    private init(_ constraints: NAME_CONSTRAINTS) {
        permitted = Self.subtrees(constraints.permittedSubtrees)
        excluded = Self.subtrees(constraints.excludedSubtrees)
    }

    /// The subtrees of DNS names and addresses.
    private static func subtrees(_ list: OpaquePointer?) -> [Subtree] {
        OpenSSLValues.elements(of: list).compactMap { element in
            let subtree = UnsafePointer<GENERAL_SUBTREE>(element).pointee
            guard let (isAddress, base) = subtree.base.flatMap({ OpenSSLValues.hostOrAddress($0) }) else { return nil }
            let minimum = subtree.minimum.map { ASN1_INTEGER_get($0) } ?? 0
            return Subtree(
                base: base, isAddress: isAddress, hasDistances: minimum != 0 || subtree.maximum != nil)
        }
    }

    private func violation(of host: PeerName) -> Violation? {
        let excluded = excluded.filter { $0.isAddress == host.isAddress }
        let permitted = permitted.filter { $0.isAddress == host.isAddress }
        for subtree in excluded + permitted {
            if subtree.hasDistances { return (X509_V_ERR_SUBTREE_MINMAX, "have distances, for the host") }
            // A constraint that cannot be interpreted may apply to this host.
            guard subtree.isWellFormed else {
                return (X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX, "are malformed (\(subtree)), for the host")
            }
        }
        if let subtree = excluded.first(where: { $0.contains(host) || $0.containsV4(of: host) }) {
            return (X509_V_ERR_EXCLUDED_VIOLATION, "exclude \(subtree), and so the host")
        }
        guard !permitted.isEmpty, !permitted.contains(where: { $0.contains(host) }) else { return nil }
        let names = permitted.prefix(5).map(\.description).joined(separator: ", ")
        return (X509_V_ERR_PERMITTED_VIOLATION, "permit \(names), and not the host")
    }
}

extension NameConstraints.Subtree: CustomStringConvertible {
    fileprivate var isWellFormed: Bool {
        isAddress ? base.count == 8 || base.count == 32 : base.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    fileprivate func contains(_ host: PeerName) -> Bool {
        switch host {
        case .address(let address): contains(address.bytes)
        case .domain(let name): containsName(Array(name.utf8))
        }
    }

    /// An IPv4-mapped IPv6 address is reached as its IPv4 address (RFC 4291 §2.5.5.2).
    fileprivate func containsV4(of host: PeerName) -> Bool {
        guard case .address(let address) = host, let mapped = address.mappedV4 else { return false }
        return contains(mapped.bytes)
    }

    private func contains(_ address: [UInt8]) -> Bool {
        guard base.count == 2 * address.count else { return false }
        return zip(address, zip(base, base.dropFirst(address.count))).allSatisfy { byte, rule in
            (byte ^ rule.0) & rule.1 == 0
        }
    }

    /// Whether the subtree contains the name: a domain contains itself and all names below it. With a leading dot,
    /// which RFC 5280 defines only for URIs, or an asterisk, it contains only the names below it.
    private func containsName(_ host: [UInt8]) -> Bool {
        var name = base[...]
        if name.starts(with: "*.".utf8) { name.removeFirst() }
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        guard host.count >= name.count,
            zip(host.suffix(name.count), name).allSatisfy({ ASCII.lowercased($0) == ASCII.lowercased($1) })
        else { return false }
        let before = host.dropLast(name.count).last
        return before == nil || name.isEmpty || name.first == UInt8(ascii: ".") || before == UInt8(ascii: ".")
    }

    fileprivate var description: String {
        guard isAddress else { return "DNS:" + String(decoding: base, as: UTF8.self) }
        guard let address = IPAddress(bytes: base.prefix(base.count / 2)),
            let mask = IPAddress(bytes: base.suffix(base.count / 2))
        else { return "an address of \(base.count) bytes" }
        return "IP:\(address)/\(mask)"
    }
}
