import Foundation
import LoadingKitLoopbackServer

/// Apache with a folder behind Basic, and one behind Digest: for the user `u` with the password `päss` in UTF-8.
package final class ApacheLoginServer: Sendable {
    private let process: ServerProcess

    package init() throws {
        process = try ServerProcess.start("apache2", aptPackage: "apache2-bin", portCount: 1) { setup in
            let folder = setup.folder
            for name in ["basic", "digest"] { try folder.write("\(name) passed", to: "files/\(name)/file.txt") }
            try folder.write("u:{SHA}ta81cOE4wM/twp7YSmra6UHf0uo=\n", to: "basic.users")
            try folder.write("u:digest:d89666772eddbc14166276d2997e1d30\n", to: "digest.users")
            try folder.write(Self.configuration(folder.path, setup.ports[0]), to: "apache.conf")
            // Started by root it becomes another user, who has to see the files.
            for name in ["", "files", "files/basic", "files/digest"] { chmod(folder.file(name).path, 0o755) }
            for name in ["basic.users", "digest.users"] { chmod(folder.file(name).path, 0o644) }
            return ["-d", folder.path, "-f", "apache.conf", "-DFOREGROUND"]
        }
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(process.ports[0])\(path)" }

    private static func configuration(_ folder: String, _ port: UInt16) -> String {
        let modules = [
            "mpm_event", "authz_core", "authz_user", "authn_core", "authn_file", "auth_basic", "auth_digest",
        ]
        .map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n")
        let folders = ["Basic", "Digest"].map { name in
            """
            <Location /\(name.lowercased())>
            AuthType \(name)
            AuthName \(name.lowercased())
            Auth\(name)Provider file
            AuthUserFile \(folder)/\(name.lowercased()).users
            Require valid-user
            </Location>
            """
        }
        return """
            \(modules)
            ServerName localhost
            Listen 127.0.0.1:\(port)
            DefaultRuntimeDir \(folder)
            PidFile apache.pid
            ErrorLog /dev/stderr
            User nobody
            Group nogroup
            DocumentRoot \(folder)/files
            \(folders.joined(separator: "\n"))
            """
    }
}
