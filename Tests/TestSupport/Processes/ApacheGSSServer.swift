import Foundation

/// Apache with `mod_auth_gssapi`, over http and https, before another server: it lets requests pass to that, with the user's
/// name in `X-User`.
///
/// | path | who may pass |
/// |---|---|
/// | `/request/` | who authenticates each request by Kerberos |
/// | `/bound/` | who has authenticated the connection by Kerberos |
/// | `/ntlm/` | who has authenticated the connection by NTLM |
/// | `/either/` | who uses Kerberos, or Basic with the realm's user and password |
package final class ApacheGSSServer: Sendable {
    private let process: ServerProcess

    /// - Parameters:
    ///   - realm: nil for a server that knows no Kerberos.
    ///   - ntlmUsers: lines `DOMAIN:user:password`.
    ///   - backend: the beginning of URLs of the server behind it.
    package init(_ realm: KerberosRealm?, tls identity: ServerIdentity, ntlmUsers: [String] = [], backend: String)
        throws
    {
        guard access("/usr/lib/apache2/modules/mod_auth_gssapi.so", R_OK) == 0 else {
            throw MissingProgram(program: "mod_auth_gssapi", aptPackage: "libapache2-mod-auth-gssapi")
        }
        try GSSAcceptorServer.requireNTLM()
        process = try ServerProcess.start(
            "apache2", aptPackage: "apache2-bin", portCount: 2,
            environment: { setup in
                (realm?.serverEnvironment ?? [:]).merging(
                    ["NTLM_USER_FILE": setup.folder.file("ntlm.users").path]
                ) { $1 }
            }
        ) { setup in
            let folder = setup.folder
            try folder.write(identity.certificatePEM, to: "server.pem")
            try folder.write(identity.privateKeyPEM, to: "server.key")
            try folder.write(ntlmUsers.map { $0 + "\n" }.joined(), to: "ntlm.users")
            try folder.write(Self.configuration(folder.path, setup.ports, realm?.keytab, backend), to: "apache.conf")
            // Started by root it becomes another user, who has to see the files.
            chmod(folder.path, 0o755)
            chmod(folder.file("ntlm.users").path, 0o644)
            return ["-d", folder.path, "-f", "apache.conf", "-DFOREGROUND"]
        }
    }

    deinit { stop() }

    package func stop() { process.stop() }

    /// The output up to now.
    package var output: String { process.output }

    package func url(_ path: String, isSecure: Bool = false, host: String = "localhost", user: String? = nil) -> String
    {
        let name = user.map { "\($0)@" } ?? ""
        return "http\(isSecure ? "s" : "")://\(name)\(host):\(process.ports[isSecure ? 1 : 0])\(path)"
    }

    private static func configuration(_ folder: String, _ ports: [UInt16], _ keytab: String?, _ backend: String)
        -> String
    {
        let modules = [
            "mpm_event", "authz_core", "authz_user", "authn_core", "auth_gssapi", "headers",
            "proxy", "proxy_http", "ssl",
        ]
        .map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n")
        let store = keytab.map { "GssapiCredStore keytab:\($0)" } ?? ""
        let kerberos = "AuthType GSSAPI\nAuthName r\n\(store)\nGssapiAllowedMech krb5"
        return """
            \(modules)
            ServerName localhost
            Listen 127.0.0.1:\(ports[0])
            Listen 127.0.0.1:\(ports[1])
            DefaultRuntimeDir \(folder)
            PidFile apache.pid
            ErrorLog /dev/stderr
            LogLevel auth_gssapi:info
            User nobody
            Group nogroup
            KeepAlive On
            KeepAliveTimeout 300
            MaxKeepAliveRequests 0
            <VirtualHost 127.0.0.1:\(ports[1])>
            SSLEngine on
            SSLCertificateFile server.pem
            SSLCertificateKeyFile server.key
            </VirtualHost>
            <Location />
            RequestHeader set X-User "expr=%{REMOTE_USER}"
            RequestHeader unset Authorization
            </Location>
            <Location /request/>
            \(kerberos)
            Require valid-user
            ProxyPass \(backend)/request/
            </Location>
            <Location /bound/>
            \(kerberos)
            GssapiConnectionBound On
            Require valid-user
            ProxyPass \(backend)/bound/
            </Location>
            <Location /ntlm/>
            AuthType GSSAPI
            AuthName r
            GssapiAllowedMech ntlmssp
            GssapiConnectionBound On
            Require valid-user
            ProxyPass \(backend)/ntlm/
            </Location>
            <Location /either/>
            \(kerberos)
            GssapiBasicAuth On
            Require valid-user
            ProxyPass \(backend)/either/
            </Location>
            """
    }
}
