import CLoadingKitGSS

/// A user's tickets, or the means to acquire them.
final class GSSCredential: @unchecked Sendable {  // the library synchronises its use
    let handle: gss_cred_id_t

    /// The tickets of the user who runs the program, and no other kind of credential of this user.
    convenience init() throws(GSSError) {
        try self.init(name: nil, password: nil)
        var (minor, kerberos): (UInt32, gss_OID_set_desc) = (
            0, gss_OID_set_desc(count: 1, elements: loadingkit_gss_kerberos())
        )
        try GSSLibrary.use { () throws(GSSError) in
            try GSSError.check(gss_set_neg_mechs(&minor, handle, &kerberos), minor)
        }
    }

    /// - Parameter password: nil for the tickets that the user already has.
    convenience init(user: String, password: String?) throws(GSSError) {
        try self.init(name: try GSSName(user: user), password: password)
    }

    private init(name: GSSName?, password: String?) throws(GSSError) {
        handle = try GSSLibrary.use { () throws(GSSError) in try Self.acquire(name, password) }
    }

    private static func acquire(_ name: GSSName?, _ password: String?) throws(GSSError) -> gss_cred_id_t {
        defer { withExtendedLifetime(name) {} }
        var mechanisms = gss_OID_set_desc(count: 1, elements: loadingkit_gss_spnego())
        var (minor, credential): (UInt32, gss_cred_id_t?) = (0, nil)
        let major =
            if let password {
                Array(password.utf8).withGSSBuffer {
                    gss_acquire_cred_with_password(
                        &minor, name?.handle, $0, UInt32.max, &mechanisms, GSS_C_INITIATE, &credential, nil, nil)
                }
            } else {
                gss_acquire_cred(
                    &minor, name?.handle, UInt32.max, &mechanisms, GSS_C_INITIATE, &credential, nil, nil)
            }
        try GSSError.check(major, minor)
        guard let credential else { throw GSSError("there are no tickets") }
        return credential
    }

    deinit {
        var (minor, credential): (UInt32, gss_cred_id_t?) = (0, handle)
        _ = try? GSSLibrary.use { gss_release_cred(&minor, &credential) }
    }

    /// Whether the tickets are still valid.
    var isValid: Bool {
        var (minor, lifetime): (UInt32, UInt32) = (0, 0)
        let isComplete = try? GSSLibrary.use {
            gss_inquire_cred(&minor, handle, nil, &lifetime, nil, nil) == GSS_S_COMPLETE
        }
        return isComplete == true && lifetime > 60
    }
}
