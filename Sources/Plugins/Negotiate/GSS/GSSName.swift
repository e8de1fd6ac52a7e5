import CLoadingKitGSS

/// A name of a service or a user.
final class GSSName: @unchecked Sendable {  // the library's names are immutable
    let handle: gss_name_t

    /// A service on a host.
    convenience init(service: String, host: String, _ form: Negotiate.ServiceName) throws(GSSError) {
        // Characters with a meaning in a principal's name, or that end a C string.
        guard !host.isEmpty, !host.utf8.contains(where: { $0 <= 0x20 || "/@\\".utf8.contains($0) }) else {
            throw GSSError("the host cannot be part of a service's name")
        }
        switch form {
        case .asWritten:
            let host = host.lowercased()
            let realm = try GSSLibrary.use { Self.realm(of: host) }
            try self.init("\(service)/\(host)@\(realm)", loadingkit_gss_principal_name())
        case .canonicalizedBySystem:
            try self.init("\(service)@\(host)", loadingkit_gss_host_based_service())
        }
    }

    /// A user: `name@REALM`, or a name in the system's realm.
    convenience init(user: String) throws(GSSError) { try self.init(user, loadingkit_gss_user_name()) }

    private init(_ text: String, _ type: gss_OID) throws(GSSError) {
        handle = try GSSLibrary.use { () throws(GSSError) in
            var (minor, name): (UInt32, gss_name_t?) = (0, nil)
            let major = Array(text.utf8).withGSSBuffer { gss_import_name(&minor, $0, type, &name) }
            try GSSError.check(major, minor)
            guard let name else { throw GSSError("there is no such name") }
            return name
        }
    }

    deinit {
        var (minor, name): (UInt32, gss_name_t?) = (0, handle)
        _ = try? GSSLibrary.use { gss_release_name(&minor, &name) }
    }

    /// The realm of a host by `krb5.conf`; empty where the KDC has to determine it.
    private static func realm(of host: String) -> String {
        var context: krb5_context?
        guard krb5_init_context(&context) == 0, let context else { return "" }
        defer { krb5_free_context(context) }
        var realms: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        guard krb5_get_host_realm(context, host, &realms) == 0, let realms else { return "" }
        defer { krb5_free_host_realm(context, realms) }
        return realms[0].map { String(cString: $0) } ?? ""
    }
}
