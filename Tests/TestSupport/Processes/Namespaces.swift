import Foundation

/// How tests make namespaces of their own, by `unshare`.
package enum Namespaces {
    /// The options for one of users, in which the tests are root. In a changed root the system makes none, and root needs none.
    package static let ofUser: [String] = {
        let options = ["--user", "--map-root-user"]
        return isMade(options) || getuid() != 0 ? options : []
    }()

    /// The options for one of mounts. A changed root that is no mount of its own cannot be made private: mounts stay as they
    /// are there, and those that are made in it belong to the namespace alone only where the system's root is private.
    package static let ofMounts = ofMounts(ofUser)

    /// The same for programs that change their user: they need an administrator's rights, and not a namespace of users.
    static let ofMountsForRoot = ofMounts([])

    private static func ofMounts(_ others: [String]) -> [String] {
        let options = others + ["--mount"]
        let inChangedRoot = options + ["--propagation", "unchanged"]
        return !isMade(options) && isMade(inChangedRoot) ? inChangedRoot : options
    }

    /// The command, for a shell, that gives a namespace of mounts its own shared memory.
    static let makingSharedMemory =
        "{ ! mountpoint -q /dev || mount --make-private /dev; } && mount -t tmpfs -o mode=1777 tmpfs /dev/shm"

    private static func isMade(_ options: [String]) -> Bool {
        system("/usr/bin/unshare \(options.joined(separator: " ")) /bin/true 2>/dev/null") == 0
    }
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
        let script = "\(Namespaces.makingSharedMemory) && exec \"$0\" \"$@\""
        return try start("unshare", aptPackage: "util-linux", portCount: 1, environment: environment) { setup in
            Namespaces.ofMountsForRoot + ["/bin/sh", "-c", script, squid] + (try configure(setup))
        }
    }

    private static var isSharedMemoryOpen: Bool {
        var status = stat()
        return stat("/dev/shm", &status) == 0 && status.st_mode & S_IWOTH != 0
    }
}
