import CLoadingKitOpenSSL

/// The cipher suites of TLS 1.2 and before whose keys nobody can find out later who learns the server's (all of TLS 1.3's
/// are like that).
enum ForwardSecrecy {
    /// Takes all others from what a context offers. What the system's configuration took already stays away.
    static func require(in context: OpaquePointer) -> Bool {
        let names = suites(of: context).filter(hasIt).compactMap { SSL_CIPHER_get_name($0) }.map { String(cString: $0) }
        return !names.isEmpty && SSL_CTX_set_cipher_list(context, names.joined(separator: ":")) == 1
    }

    private static func suites(of context: OpaquePointer) -> [OpaquePointer] {
        guard let list = SSL_CTX_get_ciphers(context) else { return [] }
        return (0..<max(0, OPENSSL_sk_num(list))).compactMap { OPENSSL_sk_value(list, $0).map { OpaquePointer($0) } }
    }

    private static func hasIt(_ suite: OpaquePointer) -> Bool {
        switch SSL_CIPHER_get_kx_nid(suite) {
        case NID_kx_ecdhe, NID_kx_dhe: true
        // TLS 1.3's are chosen elsewhere, and not named with these.
        case _: false
        }
    }
}
