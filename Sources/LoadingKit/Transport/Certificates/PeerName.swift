import CLoadingKitOpenSSL

/// The name for which a peer's certificate must be valid.
enum PeerName: CustomStringConvertible {
    /// An address without its zone.
    case address(IPAddress)
    /// A domain name without the root's dot.
    case domain(String)

    /// Nil if the text cannot be a name.
    init?(_ text: String) {
        if let address = IPAddress(withoutZone: text) {
            self = .address(address)
            return
        }
        let name = Self.withoutRoot(text)
        // OpenSSL interprets a leading dot as all names below the domain.
        guard !name.isEmpty, !name.hasPrefix("."), !name.utf8.contains(0) else { return nil }
        self = .domain(name)
    }

    var isAddress: Bool {
        switch self {
        case .address: true
        case .domain: false
        }
    }

    var description: String {
        switch self {
        case .address(let address): address.description
        case .domain(let name): name
        }
    }

    /// Makes a verification require the name. Returns `false` if the text cannot be a name.
    static func demand(_ name: String, in parameters: OpaquePointer?) -> Bool {
        PeerName(name)?.demand(in: parameters) ?? false
    }

    /// Makes a verification require the name. Literal addresses are verified as addresses (RFC 9110 §4.3.5). Only the
    /// certificate's alternative names count: the subject's common name is for people (RFC 9525 §2).
    private func demand(in parameters: OpaquePointer?) -> Bool {
        switch self {
        case .address(let address): return X509_VERIFY_PARAM_set1_ip_asc(parameters, address.description) == 1
        case .domain(let name):
            let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
            X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(flags))
            return X509_VERIFY_PARAM_set1_host(parameters, name, 0) == 1
        }
    }

    /// The name without the root's dot, which certificates do not contain.
    static func withoutRoot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }
}
