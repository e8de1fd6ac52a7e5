import Foundation
import LoadingKitLoopbackServer
import TestSupport

/// A real FTP server on a free loopback port, with a folder of files.
final class FTPServerProcess: Sendable {
    /// Which one.
    enum Program: String, Sendable, CaseIterable {
        case vsftpd
        case pureFTPd = "pure-ftpd"
        case pyftpdlib
    }

    /// Where TLS begins.
    enum Security: String, Sendable, CaseIterable {
        case none, explicit, implicit
    }

    /// The features that pyftpdlib lacks, and its errors.
    struct Faults: Sendable {
        /// Commands that it does not know.
        var missingCommands: [String] = []
        /// After how many bytes it ends a file's data connection, and how often.
        var cut: (bytes: Int, times: Int)?
        /// How many bytes it sends in a second.
        var bytesPerSecond: Int?
        var requiresTLS = false
        /// Whether data connections must resume the TLS session of the control connection. vsftpd always wants it.
        var requiresSessionReuse = false
        /// From which data connection on it shows this, in TLS sessions of their own.
        var dataIdentity: (ServerIdentity, from: Int)?
    }

    let program: Program
    let security: Security
    private let process: ServerProcess

    /// - Parameters:
    ///   - files: by their paths in the user's folder; a path that ends in `/` makes a folder.
    ///   - otherFiles: those of the other user.
    ///   - identity: for TLS, which is allowed and not required with `.explicit`.
    ///   - allowsAnonymous: whether vsftpd takes any password; the user is the only one then. pyftpdlib has an anonymous user
    ///     besides the others.
    init(
        _ program: Program, files: [String: [UInt8]] = [:], otherFiles: [String: [UInt8]] = [:],
        security: Security = .none, identity: ServerIdentity? = nil,
        allowsAnonymous: Bool = false, faults: Faults = Faults()
    ) throws {
        self.program = program
        self.security = security
        if program == .pyftpdlib {
            _ = try ServerProcess.python(with: ["pyftpdlib", "OpenSSL"], aptPackage: program.aptPackage)
        }
        process = try ServerProcess.start(program.executable, aptPackage: program.aptPackage, portCount: 1) { setup in
            try Self.write(["files": files, "others": otherFiles], to: setup.folder)
            if let identity {
                try setup.folder.write(identity.privateKeyPEM + identity.certificatePEM, to: "identity.pem")
            }
            switch program {
            case .vsftpd: return try Self.configureVSFTPD(setup, security, allowsAnonymous: allowsAnonymous)
            case .pureFTPd: return try Self.configurePureFTPd(setup, security)
            case .pyftpdlib:
                if let (identity, _) = faults.dataIdentity {
                    try setup.folder.write(identity.privateKeyPEM + identity.certificatePEM, to: "data.pem")
                }
                return try Self.configurePyftpdlib(setup, security, faults, allowsAnonymous: allowsAnonymous)
            }
        }
    }

    deinit { stop() }

    func stop() { process.stop() }

    var port: UInt16 { process.ports[0] }

    /// The server's output: pyftpdlib writes `connected` and `command NAME`.
    var output: String { process.output }

    /// The user's folder.
    var folder: URL { process.setup.folder.file("files") }

    /// Another user's, of pure-ftpd and pyftpdlib.
    var otherFolder: URL { process.setup.folder.file("others") }

    /// vsftpd would have to be given one of this machine's users.
    var user: String { program == .vsftpd ? "anonymous" : "alice" }
    let password = "secret"
    /// Of pure-ftpd and pyftpdlib.
    let otherUser = (name: "bob", password: "hidden")

    /// - Parameter credential: `user:password`, in a URL.
    func url(_ path: String, credential: String? = nil) -> String {
        let scheme = security == .implicit ? "ftps" : "ftp"
        return "\(scheme)://\(credential.map { $0 + "@" } ?? "")localhost:\(port)\(path)"
    }

    /// With the user and the password that the server knows.
    func urlOfUser(_ path: String) -> String { url(path, credential: "\(user):\(password)") }

    private static func write(_ folders: [String: [String: [UInt8]]], to folder: TemporaryFolder) throws {
        for (name, files) in folders {
            try folder.write("", to: "\(name)/.keep")
            for (path, bytes) in files {
                if path.hasSuffix("/") {
                    try FileManager.default.createDirectory(
                        at: folder.file("\(name)/\(path)"), withIntermediateDirectories: true)
                } else {
                    try folder.write(bytes, to: "\(name)/\(path)")
                }
            }
        }
        guard let names = FileManager.default.enumerator(atPath: folder.path) else { return }
        // pure-ftpd's users are nobody, who must see the files. What is named so must not be seen.
        for case let name as String in names {
            let path = folder.file(name).path
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            chmod(path, name.hasSuffix("unreadable") ? 0o600 : isFolder.boolValue ? 0o777 : 0o666)
        }
    }
}

extension FTPServerProcess.Program {
    /// Those that can be run as this user: pure-ftpd changes its root folder.
    static var runnable: [Self] { allCases.filter { $0 != .pureFTPd || geteuid() == 0 } }

    /// How each can protect connections.
    var securities: [FTPServerProcess.Security] {
        switch self {
        case .vsftpd, .pyftpdlib: FTPServerProcess.Security.allCases
        case .pureFTPd: [.none, .explicit]
        }
    }

    fileprivate var executable: String {
        switch self {
        case .vsftpd, .pureFTPd: rawValue
        // The distribution's own, which has its packages, whatever else the path has.
        case .pyftpdlib: "/usr/bin/python3"
        }
    }

    fileprivate var aptPackage: String {
        switch self {
        case .vsftpd, .pureFTPd: "\(rawValue) (or run Scripts/install-ftp-servers.sh)"
        case .pyftpdlib: "python3-pyftpdlib python3-openssl"
        }
    }
}

// MARK: - Configurations

extension FTPServerProcess {
    /// The ports of data connections, where the server selects them: others have none of these, neither servers nor clients.
    private static let passivePorts = 61_000...65_535

    /// It knows the users of the machine, and the anonymous one, whose passwords may be a list. The anonymous one stands for a
    /// user of the machine, by default one that only the package's installation makes.
    private static func configureVSFTPD(
        _ setup: ServerProcess.Setup, _ security: Security, allowsAnonymous: Bool
    ) throws -> [String] {
        let folder = setup.folder
        try folder.write("secret\n", to: "passwords")
        try folder.write("", to: "empty/.keep")
        chmod(folder.file("empty").path, 0o555)
        let tls =
            security == .none
            ? "ssl_enable=NO"
            : """
            ssl_enable=YES
            allow_anon_ssl=YES
            force_anon_logins_ssl=YES
            force_anon_data_ssl=YES
            require_ssl_reuse=YES
            rsa_cert_file=\(folder.path)/identity.pem
            rsa_private_key_file=\(folder.path)/identity.pem
            ssl_ciphers=HIGH
            implicit_ssl=\(security == .implicit ? "YES" : "NO")
            """
        let configuration = """
            listen=YES
            listen_port=\(setup.ports[0])
            listen_address=127.0.0.1
            background=NO
            run_as_launching_user=YES
            ftp_username=nobody
            nopriv_user=nobody
            one_process_model=YES
            secure_chroot_dir=\(folder.path)/empty
            seccomp_sandbox=NO
            anonymous_enable=YES
            anon_root=\(folder.path)/files
            secure_email_list_enable=\(allowsAnonymous ? "NO" : "YES")
            email_password_file=\(folder.path)/passwords
            write_enable=YES
            anon_upload_enable=YES
            anon_mkdir_write_enable=YES
            anon_other_write_enable=YES
            anon_umask=022
            delay_failed_login=0
            max_login_fails=3
            xferlog_enable=NO
            connect_from_port_20=NO
            pasv_min_port=\(passivePorts.lowerBound)
            pasv_max_port=\(passivePorts.upperBound)
            \(tls)

            """
        return [try folder.write(configuration, to: "vsftpd.conf").path]
    }

    /// It has a list of users, which another program makes into a file for it.
    private static func configurePureFTPd(_ setup: ServerProcess.Setup, _ security: Security) throws -> [String] {
        let folder = setup.folder
        // `openssl passwd -6 -salt loadingkit secret`, and of `hidden`.
        let hashes = [
            "alice":
                "$6$loadingkit$9K0hOBeXe40OHc12Q4DtHpe3yzu1eZIFKpHeGroQU84xB1lyGvSsbX3MgXiyE2RqxPjMo0qJzzTZlqeasx9BA1",
            "bob":
                "$6$loadingkit$WY74M4QL1f4vXOn7FLrhBnrCDW8wDAVCo9yN9hjwQ8MICzDSy46mLoLNp6JAvjntp30bvkJRG3nqWZI0.ypaI.",
        ]
        let nobody = 65_534
        let users = hashes.map { name, hash in
            "\(name):\(hash):\(nobody):\(nobody)::\(folder.path)/\(name == "alice" ? "files" : "others")/./::::::::::::\n"
        }
        try folder.write(users.joined(), to: "users")
        let arguments = ["pure-pw", "mkdb", "\(folder.path)/users.pdb", "-f", "\(folder.path)/users"]
        guard try ChildProcess("/usr/bin/env", arguments).waitForExit() == 0 else {
            throw MissingProgram(program: "pure-pw", aptPackage: Program.pureFTPd.aptPackage)
        }
        return [
            "--bind", "127.0.0.1,\(setup.ports[0])", "--login", "puredb:\(folder.path)/users.pdb", "--noanonymous",
            "--chrooteveryone", "--dontresolve", "--pidfile", "\(folder.path)/server.pid", "--syslogfacility", "none",
            "--maxclientsnumber", "100", "--maxclientsperip", "100",
            "--passiveportrange", "\(passivePorts.lowerBound):\(passivePorts.upperBound)",
        ] + (security == .none ? [] : ["--tls", "1", "--certfile", "\(folder.path)/identity.pem"])
    }

    private static func configurePyftpdlib(
        _ setup: ServerProcess.Setup, _ security: Security, _ faults: Faults, allowsAnonymous: Bool
    ) throws -> [String] {
        let folder = setup.folder.path
        var users = ["alice": ["secret", "\(folder)/files"], "bob": ["hidden", "\(folder)/others"]]
        if allowsAnonymous { users["anonymous"] = ["", "\(folder)/files"] }
        let json = String(decoding: try JSONSerialization.data(withJSONObject: users), as: UTF8.self)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("server.py")
            .path
        var arguments = [script, "\(setup.ports[0])", json, "--locked", "\(folder)/files/locked"]
        if security != .none { arguments += ["--identity", "\(folder)/identity.pem"] }
        if security == .implicit { arguments.append("--implicit") }
        if faults.requiresTLS { arguments.append("--require-tls") }
        if faults.requiresSessionReuse { arguments.append("--require-reuse") }
        if let (_, first) = faults.dataIdentity {
            arguments += ["--data-identity", "\(folder)/data.pem", "--data-identity-from", "\(first)"]
        }
        if let cut = faults.cut { arguments += ["--cut", "\(cut.bytes)", "--cuts", "\(cut.times)"] }
        if let bytes = faults.bytesPerSecond { arguments += ["--slow", "\(bytes)"] }
        if !faults.missingCommands.isEmpty { arguments += ["--without"] + faults.missingCommands }
        return arguments
    }
}
