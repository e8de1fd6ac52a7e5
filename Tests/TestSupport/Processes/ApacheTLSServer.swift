import Foundation
import LoadingKitLoopbackServer

/// Apache over TLS 1.3 and HTTP/1.1. It forwards `/open/` to a server, and `/secret/` after it has asked for the client's
/// certificate, whose subject it puts into `X-Client`.
package final class ApacheTLSServer: Sendable {
    private let process: ServerProcess

    /// - Parameters:
    ///   - clientAuthority: PEM; who issues the clients' certificates.
    ///   - origin: the URL of the server that it forwards to, without a path.
    ///   - directives: added to the configuration.
    package init(
        _ identity: ServerIdentity, clientAuthority: String, forwardingTo origin: String, directives: String = ""
    ) throws {
        process = try ServerProcess.start("apache2", aptPackage: "apache2-bin", portCount: 1) { setup in
            let folder = setup.folder
            try folder.write(identity.certificatePEM, to: "server.pem")
            try folder.write(identity.privateKeyPEM, to: "server.key")
            try folder.write(clientAuthority, to: "clients.pem")
            let configuration = Self.configuration(folder.path, setup.ports[0], origin, directives)
            try folder.write(configuration, to: "apache.conf")
            return ["-d", folder.path, "-f", "apache.conf", "-DFOREGROUND"]
        }
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package func url(_ path: String) -> String { "https://localhost:\(process.ports[0])\(path)" }

    private static func configuration(
        _ folder: String, _ port: UInt16, _ origin: String, _ directives: String
    ) -> String {
        let modules = ["mpm_event", "authz_core", "ssl", "headers", "proxy", "proxy_http", "socache_shmcb"]
            .map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n")
        let origin = origin.hasSuffix("/") ? origin : origin + "/"
        return """
            \(modules)
            ServerName localhost
            Listen 127.0.0.1:\(port)
            DefaultRuntimeDir \(folder)
            PidFile apache.pid
            ErrorLog /dev/stderr
            User nobody
            Group nogroup
            KeepAlive On
            KeepAliveTimeout 300
            SSLEngine on
            SSLProtocol TLSv1.3
            SSLSessionCache none
            SSLCertificateFile \(folder)/server.pem
            SSLCertificateKeyFile \(folder)/server.key
            SSLCACertificateFile \(folder)/clients.pem
            RequestHeader set X-Client "%{SSL_CLIENT_S_DN}s"
            ProxyPass /open/ \(origin)
            ProxyPass /secret/ \(origin)
            <Location /secret/>
            SSLVerifyClient require
            SSLVerifyDepth 3
            </Location>
            \(directives)
            """
    }
}
