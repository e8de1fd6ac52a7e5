import Foundation
import LoadingKitLoopbackServer

/// nginx serving files over http, and over https where it is given an identity (HTTP/1.1, and HTTP/2 where asked).
package final class NginxServer: Sendable {
    package let process: ServerProcess
    package let httpPort: UInt16
    /// Nil without an identity.
    package let httpsPort: UInt16?

    /// The folder whose files are served.
    package var root: URL { process.setup.folder.file("files") }

    /// - Parameters:
    ///   - files: served by their names.
    ///   - identity: for the https listener.
    ///   - speaksHTTP2: whether the https listener offers HTTP/2, too.
    ///   - directives: added to the `server` block, such as a `location`.
    ///   - hasWorker: whether a master process starts the one that serves, as usual.
    package init(
        files: [String: [UInt8]] = [:], identity: ServerIdentity? = nil, speaksHTTP2: Bool = false,
        directives: String = "",
        hasWorker: Bool = true
    ) throws {
        process = try ServerProcess.start("nginx", aptPackage: "nginx", portCount: identity == nil ? 1 : 2) { setup in
            try setup.folder.write("", to: "files/.keep")
            for (name, bytes) in files { try setup.folder.write(bytes, to: "files/\(name)") }
            if let identity {
                try setup.folder.write(identity.certificatePEM, to: "certificate.pem")
                try setup.folder.write(identity.privateKeyPEM, to: "key.pem")
            }
            let configuration = Self.configuration(
                setup, speaksHTTP2: speaksHTTP2, directives: directives, hasWorker: hasWorker)
            try setup.folder.write(configuration, to: "nginx.conf")
            return ["-p", setup.folder.path, "-c", "nginx.conf", "-e", "stderr"]
        }
        httpPort = process.ports[0]
        httpsPort = process.ports.count > 1 ? process.ports[1] : nil
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(httpPort)\(path)" }

    /// Nil without an identity.
    package func secureURL(_ path: String = "/") -> String? {
        httpsPort.map { "https://localhost:\($0)\(path)" }
    }

    private static func configuration(
        _ setup: ServerProcess.Setup, speaksHTTP2: Bool, directives: String, hasWorker: Bool
    ) -> String {
        let listeners = setup.ports.enumerated().map { index, port in
            "listen 127.0.0.1:\(port)\(index == 1 ? speaksHTTP2 ? " ssl http2" : " ssl" : "") backlog=4096;"
        }
        let identity = setup.ports.count > 1 ? "ssl_certificate certificate.pem; ssl_certificate_key key.pem;" : ""
        // Workers of a master that is root would run as another user, who cannot see the private folder.
        let user = geteuid() == 0 ? "user root;" : ""
        let temporaryFolders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \($0)_temp;" }.joined(separator: " ")
        return """
            \(user)
            daemon off;
            master_process \(hasWorker ? "on" : "off");
            worker_processes 1;
            pid nginx.pid;
            error_log stderr warn;
            events { worker_connections 4096; }
            http {
                access_log off;
                types { text/html html; text/plain txt; application/json json; image/png png; }
                default_type application/octet-stream;
                sendfile on;
                tcp_nopush on;
                keepalive_requests 1000000000;
                keepalive_timeout 600s;
                client_max_body_size 0;
                \(temporaryFolders)
                server {
                    \(listeners.joined(separator: "\n        "))
                    \(identity)
                    root files;
                    \(directives)
                }
            }
            """
    }
}
