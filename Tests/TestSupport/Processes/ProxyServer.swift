import Foundation

/// A real proxy on a free loopback port.
package final class ProxyServer: Sendable {
    /// Which one.
    package enum Program: String, Sendable, CaseIterable {
        case tinyproxy, squid, microsocks, dante

        /// Whether it can be made to want a user and password.
        package var canAsk: Bool { self == .tinyproxy || self == .microsocks }
    }

    private let process: ServerProcess

    /// - Parameter credential: whom it lets in alone: `user:password`.
    package init(_ program: Program, credential: String? = nil) throws {
        process = try ServerProcess.start(program.executable, aptPackage: program.aptPackage, portCount: 1) { setup in
            try program.configure(setup.folder, setup.ports[0], credential)
        }
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package var port: UInt16 { process.ports[0] }
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
    fileprivate func configure(_ folder: TemporaryFolder, _ port: UInt16, _ credential: String?) throws -> [String] {
        let parts = credential?.split(separator: ":").map(String.init)
        switch self {
        case .tinyproxy:
            let asks = parts.map { "BasicAuth \($0[0]) \($0[1])" } ?? ""
            try folder.write("Port \(port)\nListen 127.0.0.1\nTimeout 60\nMaxClients 100\n\(asks)\n", to: "proxy.conf")
            return ["-d", "-c", folder.file("proxy.conf").path]
        case .squid:
            try folder.write(Self.squid(folder.path, port), to: "proxy.conf")
            chmod(folder.path, 0o755)
            return ["-N", "-f", folder.file("proxy.conf").path]
        case .microsocks:
            return ["-i", "127.0.0.1", "-p", "\(port)"] + (parts.map { ["-u", $0[0], "-P", $0[1]] } ?? [])
        case .dante:
            try folder.write(Self.dante(port), to: "proxy.conf")
            return ["-f", folder.file("proxy.conf").path, "-p", folder.file("proxy.pid").path]
        }
    }

    private static func squid(_ folder: String, _ port: UInt16) -> String {
        """
        http_port 127.0.0.1:\(port)
        http_access allow all
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
