import Foundation
import LoadingKitLoopbackServer

/// A real proxy on a free loopback port.
package final class ProxyServer: Sendable {
    /// Which one.
    package enum Program: String, Sendable, CaseIterable {
        case tinyproxy, squid, microsocks, dante

        /// Whether it can be made to want a user and password; dante would want one of this machine's users.
        package var canAsk: Bool { self != .dante }

        package var isSOCKS: Bool {
            switch self {
            case .tinyproxy, .squid: false
            case .microsocks, .dante: true
            }
        }
    }

    /// How squid asks.
    package enum Scheme: String, Sendable, CaseIterable {
        case basic, digest
    }

    private let program: Program
    private let process: ServerProcess

    /// - Parameters:
    ///   - credential: the only accepted credential: `user:password`.
    ///   - scheme: how squid asks for it.
    ///   - identity: squid's, which is spoken to over TLS then.
    package init(
        _ program: Program, credential: String? = nil, by scheme: Scheme = .basic, tls identity: ServerIdentity? = nil
    ) throws {
        self.program = program
        let configure = { (setup: ServerProcess.Setup) in
            try program.configure(setup.folder, setup.ports[0], credential, scheme, identity)
        }
        process =
            program == .squid
            ? try ServerProcess.startSquid(configure: configure)
            : try ServerProcess.start(
                program.executable, aptPackage: program.aptPackage, portCount: 1, configure: configure)
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package var port: UInt16 { process.ports[0] }

    /// A `connectionProxyDictionary` by which all loads go through the proxy.
    package var dictionary: [AnyHashable: Any] {
        var dictionary: [AnyHashable: Any] = [:]
        for scheme in program.isSOCKS ? ["SOCKS"] : ["HTTP", "HTTPS", "FTP"] {
            dictionary["\(scheme)Enable"] = 1
            dictionary["\(scheme)Proxy"] = "127.0.0.1"
            dictionary["\(scheme)Port"] = Int(port)
        }
        return dictionary
    }
}

extension ProxyServer.Program {
    fileprivate var executable: String {
        switch self {
        case .tinyproxy, .squid, .microsocks: rawValue
        case .dante: "danted"
        }
    }

    fileprivate var aptPackage: String {
        switch self {
        case .tinyproxy: "tinyproxy-bin"
        case .squid, .microsocks: rawValue
        case .dante: "dante-server"
        }
    }

    /// Gives the arguments.
    fileprivate func configure(
        _ folder: TemporaryFolder, _ port: UInt16, _ credential: String?, _ scheme: ProxyServer.Scheme,
        _ identity: ServerIdentity?
    ) throws -> [String] {
        let parts = credential?.split(separator: ":").map(String.init)
        switch self {
        case .tinyproxy:
            let asks = parts.map { "BasicAuth \($0[0]) \($0[1])" } ?? ""
            try folder.write("Port \(port)\nListen 127.0.0.1\nTimeout 60\nMaxClients 100\n\(asks)\n", to: "proxy.conf")
            return ["-d", "-c", folder.file("proxy.conf").path]
        case .squid:
            if let credential { try folder.write(Self.squidCheck(credential), to: "check.sh") }
            if let credential { try folder.write(credential + "\n", to: "users") }
            if let identity {
                try folder.write(identity.certificatePEM, to: "server.pem")
                try folder.write(identity.privateKeyPEM, to: "server.key")
            }
            let listens =
                identity == nil
                ? "http_port 127.0.0.1:\(port)"
                : "https_port 127.0.0.1:\(port) tls-cert=\(folder.path)/server.pem tls-key=\(folder.path)/server.key"
            let asks = credential == nil ? "http_access allow all" : Self.squidAsks(folder.path, scheme)
            try folder.write(Self.squid(folder.path, listens, asks), to: "proxy.conf")
            chmod(folder.path, 0o755)
            return ["-N", "-f", folder.file("proxy.conf").path]
        case .microsocks:
            return ["-i", "127.0.0.1", "-p", "\(port)"] + (parts.map { ["-u", $0[0], "-P", $0[1]] } ?? [])
        case .dante:
            try folder.write(Self.dante(port), to: "proxy.conf")
            return ["-f", folder.file("proxy.conf").path, "-p", folder.file("proxy.pid").path]
        }
    }

    /// A program that squid asks about each user and password.
    private static func squidCheck(_ credential: String) -> String {
        let words = credential.replacing(":", with: " ")
        return "while read -r line; do [ \"$line\" = '\(words)' ] && echo OK || echo ERR; done\n"
    }

    private static func squidAsks(_ folder: String, _ scheme: ProxyServer.Scheme) -> String {
        let program =
            switch scheme {
            case .basic: "/bin/sh \(folder)/check.sh"
            case .digest: "/usr/lib/squid/digest_file_auth \(folder)/users"
            }
        return """
            auth_param \(scheme) program \(program)
            auth_param \(scheme) children 2 startup=1
            auth_param \(scheme) realm r
            acl known proxy_auth REQUIRED
            http_access allow known
            http_access deny all
            """
    }

    private static func squid(_ folder: String, _ listens: String, _ asks: String) -> String {
        """
        \(listens)
        \(asks)
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

    private static func dante(_ port: UInt16) -> String {
        let everyone = "{ from: 0.0.0.0/0 to: 0.0.0.0/0 log: error }"
        return """
            logoutput: stderr
            internal: 127.0.0.1 port = \(port)
            external: lo
            clientmethod: none
            socksmethod: none
            user.privileged: root
            user.unprivileged: nobody
            client pass \(everyone)
            socks pass \(everyone)
            """
    }
}
