import Foundation
import LoadingKitLoopbackServer

/// A real TLS server that staples an OCSP response to its handshakes.
package final class StaplingServer: Sendable {
    package enum Program: String, Sendable, CaseIterable {
        case nginx, openssl
    }

    private let process: ServerProcess

    /// - Parameter response: in DER; nil: nothing is stapled.
    package init(_ program: Program, _ identity: ServerIdentity, stapling response: [UInt8]?) throws {
        let package = program == .nginx ? "nginx-light" : "openssl"
        process = try ServerProcess.start(program.rawValue, aptPackage: package, portCount: 1) { setup in
            let folder = setup.folder
            try folder.write(identity.certificatePEM, to: "server.pem")
            try folder.write(identity.privateKeyPEM, to: "server.key")
            if let response { try folder.write(response, to: "staple.der") }
            let port = setup.ports[0]
            switch program {
            case .nginx:
                try folder.write(Self.nginx(port, staples: response != nil), to: "nginx.conf")
                return ["-p", folder.path, "-c", "nginx.conf", "-e", "stderr"]
            case .openssl:
                let status = response == nil ? [] : ["-status_file", folder.file("staple.der").path]
                return [
                    "s_server", "-accept", "127.0.0.1:\(port)", "-cert", folder.file("server.pem").path, "-key",
                    folder.file("server.key").path, "-www", "-quiet",
                ] + status
            }
        }
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package var url: String { "https://localhost:\(process.ports[0])/" }

    private static func nginx(_ port: UInt16, staples: Bool) -> String {
        """
        \(geteuid() == 0 ? "user root;" : "")
        daemon off;
        master_process off;
        pid nginx.pid;
        events {}
        http {
            access_log off;
            server {
                listen 127.0.0.1:\(port) ssl;
                ssl_certificate server.pem;
                ssl_certificate_key server.key;
                \(staples ? "ssl_stapling on; ssl_stapling_file staple.der;" : "")
                location / { return 200 "nginx"; }
            }
        }
        """
    }
}
