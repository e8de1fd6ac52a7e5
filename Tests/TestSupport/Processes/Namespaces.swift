import Foundation

/// How tests make namespaces of their own, by `unshare`.
package enum Namespaces {
    /// The options for one of users, in which the tests are root. In a changed root the system makes none, and root needs none.
    package static let ofUser: [String] = {
        let options = ["--user", "--map-root-user"]
        let isMade = system("/usr/bin/unshare \(options.joined(separator: " ")) /bin/true 2>/dev/null") == 0
        return isMade || getuid() != 0 ? options : []
    }()
}

extension ServerProcess {
    /// Starts squid, with one port. It needs shared memory, which a changed root may have for root alone: then it has some of
    /// its own.
    static func startSquid(
        environment: (Setup) -> [String: String] = { _ in [:] }, configure: (Setup) throws -> [String]
    ) throws -> ServerProcess {
        guard let squid = find("squid"), !isSharedMemoryOpen else {
            return try start("squid", aptPackage: "squid", portCount: 1, environment: environment, configure: configure)
        }
        let script = "mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec \"$0\" \"$@\""
        return try start("unshare", aptPackage: "util-linux", portCount: 1, environment: environment) { setup in
            ["--mount", "/bin/sh", "-c", script, squid] + (try configure(setup))
        }
    }

    private static var isSharedMemoryOpen: Bool {
        var status = stat()
        return stat("/dev/shm", &status) == 0 && status.st_mode & S_IWOTH != 0
    }
}
