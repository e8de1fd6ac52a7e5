import COpenSSL

/// The name that a peer's certificate has to be for.
enum PeerName {
    /// Has a verification demand it; `false` when it cannot be a name.
    ///
    /// Literal addresses are verified as addresses (RFC 9110 §4.3.5). A name stands in the certificate's alternative names
    /// or it does not count: the subject's common name is for people to read (RFC 9525 §2).
    static func demand(_ name: String, in parameters: OpaquePointer?) -> Bool {
        if let address = IPAddress(name) {
            let text = address.description.prefix { $0 != "%" }
            return X509_VERIFY_PARAM_set1_ip_asc(parameters, String(text)) == 1
        }
        let name = withoutRoot(name)
        guard !name.isEmpty, !name.utf8.contains(0) else { return false }
        let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
        X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(flags))
        return X509_VERIFY_PARAM_set1_host(parameters, name, 0) == 1
    }

    /// The dot of an absolute name is not part of what certificates hold.
    static func withoutRoot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }
}
