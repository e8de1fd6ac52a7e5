import Foundation

/// squid that wants a login by NTLM, checked by Samba's `ntlm_auth` and `winbindd`, for the users `alice`, `jürgen` and `weiß` of
/// the domain `LKHOST`, whose passwords are `alice-pw`, `pässwörd€` and `straße`.
///
/// Samba's programs find each other in `/run/samba` alone, and want users to be the machine's: they have a mount namespace of
/// their own, for which the rights of an administrator are needed.
package final class SambaLoginProxy: Sendable {
    private let process: ServerProcess

    package init() throws {
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
            try folder.write(
                SquidLoginProxy.configuration(
                    folder.path, setup.ports[0], "ntlm",
                    "/usr/bin/ntlm_auth --configfile=\(folder.path)/smb.conf --helper-protocol=squid-2.5-ntlmssp"),
                to: "proxy.conf")
            chmod(folder.file("smb.conf").path, 0o644)
            try folder.write(Self.script(folder.path), to: "run.sh")
            return Namespaces.ofMountsForRoot + ["/bin/sh", folder.file("run.sh").path]
        }
    }

    deinit { stop() }

    package func stop() { process.stop() }

    package var port: UInt16 { process.ports[0] }

    /// The output up to now.
    package var output: String { process.output }

    /// squid's helper, which is not an administrator, has to be let into the folder of the trusted. Where Samba does not come
    /// up within a minute, this ends.
    private static func script(_ folder: String) -> String {
        """
        set -e
        \(Namespaces.makingSharedMemory)
        mkdir -p /run/samba
        mount --bind \(folder)/run /run/samba
        cp /etc/passwd \(folder)/passwd
        for user in alice jürgen weiß; do echo "$user:x:65533:65534::/:/bin/false" >> \(folder)/passwd; done
        mount --bind \(folder)/passwd /etc/passwd
        printf 'alice-pw\\nalice-pw\\n' | smbpasswd -c \(folder)/smb.conf -a -s alice
        printf 'pässwörd€\\npässwörd€\\n' | smbpasswd -c \(folder)/smb.conf -a -s jürgen
        printf 'straße\\nstraße\\n' | smbpasswd -c \(folder)/smb.conf -a -s weiß
        winbindd -F --no-process-group --debug-stdout --configfile=\(folder)/smb.conf &
        left=1200
        until [ -S /run/samba/winbindd/pipe ] && [ -S \(folder)/state/winbindd_privileged/pipe ]; do
            left=$((left - 1))
            [ $left -gt 0 ] && kill -0 $! || exit 1
            sleep 0.05
        done
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
