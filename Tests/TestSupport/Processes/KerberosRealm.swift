import Foundation

/// A Kerberos realm of its own, `LK.TEST`: MIT's KDC on a free loopback port, with users whose password is their name and
/// `-pw`, and the service `HTTP`.
package final class KerberosRealm: Sendable {
    package static let name = "LK.TEST"
    private static let users = ["alice", "bob"]

    private let process: ServerProcess
    package let folder: TemporaryFolder

    /// - Parameters:
    ///   - hosts: those that have the service.
    ///   - clockSkew: in seconds, by which clocks may differ.
    package init(hosts: [String] = ["localhost", "127.0.0.1"], clockSkew: Int = 300) throws {
        process = try ServerProcess.start(
            "krb5kdc", aptPackage: "krb5-kdc", portCount: 1, environment: { Self.environment($0.folder) }
        ) { setup in
            let folder = setup.folder
            chmod(folder.path, 0o755)
            try folder.write(Self.clientConfiguration(kdcPort: setup.ports[0], clockSkew: clockSkew), to: "krb5.conf")
            try folder.write(Self.serverConfiguration(folder.path, setup.ports[0]), to: "kdc.conf")
            let environment = Self.environment(folder)
            try ToolRun.output(
                of: "kdb5_util", ["create", "-s", "-P", "master", "-r", Self.name], aptPackage: "krb5-kdc",
                environment: environment)
            let services = hosts.map { host in
                "addprinc -randkey HTTP/\(host)\nktadd -k \(folder.path)/service.keytab HTTP/\(host)\n"
            }
            let users = Self.users.map { "addprinc -pw \($0)-pw \($0)\n" }
            try ToolRun.output(
                of: "kadmin.local", [], aptPackage: "krb5-admin-server", input: (services + users).joined(),
                environment: environment)
            chmod(folder.file("service.keytab").path, 0o644)
            chmod(folder.file("krb5.conf").path, 0o644)
            return ["-n"]
        }
        folder = process.setup.folder
    }

    deinit { stop() }

    package func stop() { process.stop() }

    /// Ends the KDC, and returns when it has ended. Tickets and files go with it.
    package func stopAndWait() { process.stopAndWait() }

    package var keytab: String { folder.file("service.keytab").path }

    package var configuration: String { folder.file("krb5.conf").path }

    /// The environment of a server of the realm, with its own replay cache.
    package var serverEnvironment: [String: String] {
        ["KRB5_CONFIG": configuration, "KRB5_KTNAME": "FILE:\(keytab)", "KRB5RCACHENAME": "none:"]
    }

    /// The environment of a program with the tickets of a cache; nil for no tickets.
    package func clientEnvironment(_ cache: String?) -> [String: String] {
        ["KRB5_CONFIG": configuration, "KRB5CCNAME": "FILE:\(cache ?? folder.file("none").path)"]
    }

    /// Requests a ticket for a user, and returns its file. Blocks.
    ///
    /// - Parameter options: of `kinit`.
    package func makeTicket(of user: String, _ options: [String] = []) throws -> String {
        let cache = folder.file("cache-\(user)-\(UUID().uuidString)").path
        try ToolRun.output(
            of: "kinit", options + ["-c", "FILE:\(cache)", user], aptPackage: "krb5-user", input: "\(user)-pw\n",
            environment: ["KRB5_CONFIG": configuration])
        return cache
    }

    /// Writes a client's configuration with the KDC on another port, and returns the file.
    ///
    /// - Parameter prefersTCP: whether it is asked over TCP first.
    package func writeConfiguration(kdcPort: UInt16, prefersTCP: Bool = false) throws -> String {
        try folder.write(
            Self.clientConfiguration(kdcPort: kdcPort, prefersTCP: prefersTCP), to: "krb5-\(kdcPort).conf"
        ).path
    }

    private static func environment(_ folder: TemporaryFolder) -> [String: String] {
        [
            "KRB5_CONFIG": folder.file("krb5.conf").path, "KRB5_KDC_PROFILE": folder.file("kdc.conf").path,
            "KRB5RCACHENAME": "none:",
        ]
    }

    private static func clientConfiguration(kdcPort: UInt16, clockSkew: Int = 300, prefersTCP: Bool = false) -> String {
        """
        [libdefaults]
        default_realm = \(name)
        dns_lookup_kdc = false
        dns_lookup_realm = false
        dns_canonicalize_hostname = false
        rdns = false
        clockskew = \(clockSkew)
        udp_preference_limit = \(prefersTCP ? 1 : 1465)
        [realms]
        \(name) = {
          kdc = 127.0.0.1:\(kdcPort)
        }
        """
    }

    private static func serverConfiguration(_ folder: String, _ port: UInt16) -> String {
        """
        [kdcdefaults]
        kdc_listen = 127.0.0.1:\(port)
        kdc_tcp_listen = 127.0.0.1:\(port)
        [realms]
        \(name) = {
          database_name = \(folder)/principal
          key_stash_file = \(folder)/stash
          acl_file = \(folder)/acl
        }
        [logging]
        kdc = STDERR
        default = STDERR
        """
    }
}
