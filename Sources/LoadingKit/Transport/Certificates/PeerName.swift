import CLoadingKitOpenSSL

/// The name that a peer's certificate has to be for.
enum PeerName: CustomStringConvertible {
    /// Without its zone.
    case address(IPAddress)
    /// Without the root's dot.
    case domain(String)

    /// Nil when the text cannot be a name.
    init?(_ text: String) {
        if let address = IPAddress(withoutZone: text) {
            self = .address(address)
            return
        }
        let name = Self.withoutRoot(text)
        // With a dot before it OpenSSL takes it for all names below.
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

    /// Has a verification demand it; `false` when it cannot be a name.
    static func demand(_ name: String, in parameters: OpaquePointer?) -> Bool {
        PeerName(name)?.demand(in: parameters) ?? false
    }

    /// Literal addresses are verified as addresses (RFC 9110 §4.3.5). A name stands in the certificate's alternative names
    /// or it does not count: the subject's common name is for people to read (RFC 9525 §2).
    private func demand(in parameters: OpaquePointer?) -> Bool {
        switch self {
        case .address(let address): return X509_VERIFY_PARAM_set1_ip_asc(parameters, address.description) == 1
        case .domain(let name):
            let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
            X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(flags))
            return X509_VERIFY_PARAM_set1_host(parameters, name, 0) == 1
        }
    }

    /// The dot of an absolute name is not part of what certificates hold.
    static func withoutRoot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }
}
