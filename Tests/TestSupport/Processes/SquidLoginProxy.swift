import Foundation

/// squid, which wants a login by `Negotiate` or `NTLM`, checked by a helper program.
package final class SquidLoginProxy: Sendable {
    private let process: ServerProcess

    /// Wants a Kerberos ticket for `HTTP/localhost`.
    package convenience init(_ realm: KerberosRealm) throws {
        let service = "HTTP/localhost@\(KerberosRealm.name)"
        try self.init(
            "negotiate", "/usr/lib/squid/negotiate_kerberos_auth -k \(realm.keytab) -s \(service)",
            realm.serverEnvironment)
    }

    /// - Parameters:
    ///   - scheme: as squid names it.
    ///   - helper: the command of the program that checks logins.
    package init(_ scheme: String, _ helper: String, _ environment: [String: String] = [:]) throws {
        process = try ServerProcess.startSquid(environment: { _ in environment }) { setup in
            try setup.folder.write(
                Self.configuration(setup.folder.path, setup.ports[0], scheme, helper), to: "proxy.conf")
            chmod(setup.folder.path, 0o755)
            return ["-N", "-f", setup.folder.file("proxy.conf").path]
        }
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package var port: UInt16 { process.ports[0] }

    /// The output up to now.
    package var output: String { process.output }

    static func configuration(_ folder: String, _ port: UInt16, _ scheme: String, _ helper: String) -> String {
        """
        http_port 127.0.0.1:\(port)
        auth_param \(scheme) program \(helper)
        auth_param \(scheme) children 2 startup=1
        auth_param \(scheme) keep_alive on
        acl known proxy_auth REQUIRED
        http_access allow known
        http_access deny all
        cache deny all
        pid_filename none
        access_log none
        cache_log stdio:/dev/stderr
        cache_store_log none
        coredump_dir \(folder)
        shutdown_lifetime 0 seconds
        hosts_file /etc/hosts
        """
    }
}
