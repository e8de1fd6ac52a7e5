import Foundation

/// squid that wants a login by NTLM, checked by Samba's `ntlm_auth` and `winbindd`, for users in the domain `LKHOST`.
///
/// Samba's programs find each other in `/run/samba` alone, and know this machine's users alone: they have a mount namespace of
/// their own, for which the rights of an administrator are needed.
package final class SambaLoginProxy: Sendable {
    private let process: ServerProcess

    /// - Parameter passwords: by the names of the users.
    package init(_ passwords: [String: String]) throws {
        for (program, package) in [("winbindd", "winbind"), ("smbpasswd", "samba-common-bin"), ("squid", "squid")] {
            if ServerProcess.find(program) == nil { throw MissingProgram(program: program, aptPackage: package) }
        }
        process = try ServerProcess.start("unshare", aptPackage: "util-linux", portCount: 1) { setup in
            let folder = setup.folder
            try folder.write(Self.samba(folder.path), to: "smb.conf")
            for name in ["private", "lock", "state", "cache", "pid", "ncalrpc", "run/winbindd"] {
                try folder.write("", to: "\(name)/.folder")
                chmod(folder.file(name).path, 0o755)
            }
            for name in ["", "run"] { chmod(folder.file(name).path, 0o755) }
            let users = passwords.keys.sorted()
            let known = try String(contentsOfFile: "/etc/passwd", encoding: .utf8)
            let added = users.enumerated().map { "\($1):x:\(61_000 + $0):65534::/nonexistent:/usr/sbin/nologin\n" }
            try folder.write(known + added.joined(), to: "passwd")
            for (number, user) in users.enumerated() {
                let password = passwords[user] ?? ""
                try folder.write("\(password)\n\(password)\n", to: "password\(number)")
            }
            try folder.write(
                SquidLoginProxy.configuration(
                    folder.path, setup.ports[0], "ntlm",
                    "/usr/bin/ntlm_auth --configfile=\(folder.path)/smb.conf --helper-protocol=squid-2.5-ntlmssp"),
                to: "proxy.conf")
            for name in ["smb.conf", "passwd"] { chmod(folder.file(name).path, 0o644) }
            try folder.write(Self.script(folder.path, users), to: "run.sh")
            return ["-m", "/bin/sh", folder.file("run.sh").path]
        }
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package var port: UInt16 { process.ports[0] }

    /// What they wrote up to now.
    package var output: String { process.output }

    /// squid's helper, which is not an administrator, has to be let into the folder of the trusted.
    private static func script(_ folder: String, _ users: [String]) -> String {
        let adding = users.enumerated().map {
            "smbpasswd -c \(folder)/smb.conf -a -s '\($1)' < \(folder)/password\($0)"
        }
        return """
            set -e
            mount --make-rprivate /
            mount --bind \(folder)/passwd /etc/passwd
            \(adding.joined(separator: "\n        "))
            mkdir -p /run/samba
            mount --bind \(folder)/run /run/samba
            winbindd -F --no-process-group --debug-stdout --configfile=\(folder)/smb.conf &
            until [ -S /run/samba/winbindd/pipe ] && [ -S \(folder)/state/winbindd_privileged/pipe ]; do sleep 0.05; done
            chgrp proxy \(folder)/state/winbindd_privileged
            exec squid -N -f \(folder)/proxy.conf
            """
    }

    private static func samba(_ folder: String) -> String {
        """
        [global]
        workgroup = LKGROUP
        netbios name = LKHOST
        server role = standalone server
        passdb backend = tdbsam:\(folder)/passdb.tdb
        private dir = \(folder)/private
        lock directory = \(folder)/lock
        state directory = \(folder)/state
        cache directory = \(folder)/cache
        pid directory = \(folder)/pid
        ncalrpc dir = \(folder)/ncalrpc
        log file = \(folder)/samba.log
        disable netbios = yes
        interfaces = lo
        bind interfaces only = yes
        """
    }
}
