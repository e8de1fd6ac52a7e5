import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import loadkit

/// Options for connections, TLS and files, and what `-v` shows of them.
@Suite(.timeLimit(.minutes(5))) struct CurlConnectionTests {
    // MARK: -v

    /// The lines of standard error in order.
    private static func lines(_ run: ToolRun) -> [String] {
        run.errors.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The connection, then each request, with its fields in the sent order, and each response, also of a redirect.
    @Test func verbose() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let run = try await ToolRun(
            [
                "-v", "-H", "X-Z: 1", "-H", "X-A: 2", "--oauth2-bearer", "secret", "-d", "x", server.url("/old"), "-o",
                "/dev/null",
            ])
        let lines = Self.lines(run)
        let expected = [
            "* connected to 127.0.0.1 port ", "> POST /old HTTP/1.1", "> Host: 127.0.0.1:", "> Connection: keep-alive",
            "> Authorization: Bearer (not shown)", "> User-Agent: loadkit/", "> Accept: */*",
            "> Content-Type: application/x-www-form-urlencoded", "> X-Z: 1", "> X-A: 2", "> Accept-Encoding: ",
            "> Content-Length: 1", ">", "< HTTP/1.1 302 Found", "< Location: /echo", "< Set-Cookie: old=1; Path=/",
            "< Content-Length: 0", "<", "* reused the connection to 127.0.0.1 port ", "> GET /echo HTTP/1.1",
        ]
        #expect(lines.count > expected.count)
        for (line, start) in zip(lines, expected) { #expect(line.hasPrefix(start), "\(line), not \(start)") }
        #expect(lines.contains("> Cookie: (not shown)") && lines.contains("< HTTP/1.1 200 OK"))
        #expect(!run.errors.contains("secret"))
    }

    /// The response that asks for a password is shown; the password is not.
    @Test func verboseChallenge() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        for url in [server.url("/digest"), server.url("/digest").replacingOccurrences(of: "//", with: "//joe:hidden@")]
        {
            let run = try await ToolRun(["-v", "--timing", "-u", "joe:hidden", url])
            let heads = Self.lines(run).filter {
                $0.hasPrefix("< HTTP") || $0.hasPrefix("> Auth") || $0.hasPrefix("> GET")
            }
            #expect(
                heads == [
                    "> GET /digest HTTP/1.1", "< HTTP/1.1 401 Unauthorized", "> GET /digest HTTP/1.1",
                    "> Authorization: Digest (not shown)", "< HTTP/1.1 200 OK",
                ])
            #expect(run.text == "Digest accepted\n" && !run.errors.contains("hidden"))
        }
        let failed = try await ToolRun(["-v", "http://joe:hidden@127.0.0.1:1/"])
        #expect(failed.status == 7 && !failed.errors.contains("hidden"))
        #expect(failed.errors.contains("s  connection 1: no connection to 127.0.0.1: Connection refused"))
    }

    /// While the tool waits for a response, other users cannot read a password among its arguments.
    @Test(arguments: [
        ["-u", "a:SECRET"], ["-sua:SECRET"], ["--user=a:SECRET"], ["-u", "a:SECRET", "-E", "both.pem:SECRET"],
    ])
    func passwordsAreHidden(_ options: [String]) async throws {
        let (asked, seen) = (Signal(), Signal())
        let server = try LoopbackServer { request in
            asked.fire()
            seen.waitBlocking()
            return try CurlServer.answer(request)
        }
        defer { server.stop() }
        defer { seen.fire() }
        let folder = try TemporaryFolder()
        let client = try CertificateAuthority().issue(.client("me"))
        try folder.write(client.certificatePEM + client.privateKeyPEM, to: "both.pem")
        let output = try FileHandle(forWritingTo: folder.write("", to: "output"))
        let process = try ChildProcess(
            try ProgramRun.executable("loadkit"), options + [server.url("/basic")], folder: folder.path,
            streams: .init(output: output.fileDescriptor))
        withExtendedLifetime(output) {}
        await asked.wait()
        let shown = try String(contentsOfFile: "/proc/\(process.identifier)/cmdline", encoding: .utf8)
        #expect(shown.contains(server.url("/basic")) && !shown.contains("SECRET"), "\(shown)")
        seen.fire()
        #expect(try await onThread { process.waitForExit() } == 0)
        #expect(try String(contentsOf: folder.file("output"), encoding: .utf8) == "Basic accepted\n")
    }

    @Test func verboseHTTP2() async throws {
        var options = LoopbackServer.Options()
        options.speaksHTTP2 = true
        let server = try LoopbackServer(options, route: CurlServer.answer)
        defer { server.stop() }
        let run = try await ToolRun(["-v", "--http2-prior-knowledge", "-H", "X-A: 1", server.url("/digits")])
        #expect(run.text == CurlServer.digits)
        let sent = Self.lines(run).filter { $0.hasPrefix("> ") }
        #expect(sent.prefix(2) == ["> :method: GET", "> :scheme: http"])
        #expect(sent.contains("> :path: /digits") && sent.contains("> x-a: 1") && !run.errors.contains("Host:"))
        #expect(run.errors.contains("< HTTP/2 200\n< content-type: "))
    }

    // MARK: The way

    @Test func unixSocket() async throws {
        let folder = try TemporaryFolder()
        let server = try LoopbackServer(.init(.unix(path: folder.file("s").path)), route: CurlServer.answer)
        defer { server.stop() }
        let run = try await ToolRun(["--unix-socket", "s", "http://name.example/echo"], folder: folder)
        #expect(run.text.contains("GET /echo\nHost: name.example\n"))
        // The scheme of the plugin is there, too.
        let path = folder.file("s").path.replacingOccurrences(of: "/", with: "%2F")
        let other = try await ToolRun(["http+unix://\(path)/digits"])
        #expect(other.text == CurlServer.digits, "\(other.errors)")
    }

    /// The name is one that the system looks up, in vain.
    @Test func aProxyWhoseNameIsNotFound() async throws {
        let run = try await ToolRun(["-x", "http://nonexistent.invalid:1", "http://name.example/"])
        #expect(run.status == 5, "\(run.errors)")
    }

    /// The proxy gets the URL's host, with each option: a name or an address.
    @Test func socksProxies() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let (url, port) = (server.url("/digits", host: "name.example"), server.address.port ?? 0)
        for (kind, options) in [
            (RelayProxy.Kind.socks5, ["--socks5-hostname"]), (.socks5, ["--socks5"]), (.socks5, ["-x"]),
            (.socks4, ["--socks4a"]), (.socks4, ["--socks4"]),
        ] {
            let proxy = try RelayProxy(kind)
            defer { proxy.stop() }
            let name = options == ["-x"] ? proxy.url : "127.0.0.1:\(proxy.port)"
            let run = try await ToolRun(options + [name, url])
            #expect(run.text == CurlServer.digits, "\(options) \(run.errors)")
            #expect(proxy.destinations == ["name.example:\(port)"], "\(options)")
        }
        let proxy = try RelayProxy(.socks5)
        defer { proxy.stop() }
        let run = try await ToolRun(["--socks5", "127.0.0.1:\(proxy.port)", server.url("/digits")])
        #expect(run.text == CurlServer.digits && proxy.destinations == ["127.0.0.1:\(port)"])
    }

    /// A connection that is accepted by the system, and by nobody else.
    @Test func connectTimeout() async throws {
        let silent = try ConnectionAcceptor(.ipv4()) { socket, _ in try? socket.waitUntilPeerCloses() }
        defer { silent.stop() }
        let url = "https://127.0.0.1:\(silent.address.port ?? 0)/"
        let run = try await ToolRun(["--connect-timeout", "0.2", url])
        #expect(run.status == 28 && run.errors.contains("no connection"))
    }

    /// An upload over ftp gets its response after its end, and is connected before.
    @Test func connectTimeoutOfUploads() throws {
        let plan = try LoadPlan(LoadCommand.parse(["--connect-timeout", "9", "-T", "-", "ftp://127.0.0.1:1/file"]))
        let (console, queue) = (Console(STDERR_FILENO), DispatchQueue(label: "transfers"))
        let outlets = Outlets(
            console: console, queue: queue, output: OrderedOutput(STDOUT_FILENO, []),
            progress: ProgressDisplay(console, queue, isShown: false, isBar: false), display: plan.display)
        let transfer = Transfer(0, plan.loads[0], plan, outlets, attempt: 0, elapsed: 0, created: [])
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: plan.loads[0].request)
        #expect(!transfer.isConnected)
        transfer.urlSession(session, task: task, didSendBodyData: 1, totalBytesSent: 1, totalBytesExpectedToSend: -1)
        #expect(transfer.isConnected)
    }

    @Test(arguments: [
        ("127.0.0.9", "127.0.0.9", 0), ("lo", "127.0.0.1", 0), ("if!lo", "127.0.0.1", 0),
        ("host!127.0.0.9", "127.0.0.9", 0), ("localhost", "127.0.0.1", 0), ("192.0.2.1", "", 45), ("if!none0", "", 45),
        ("host!none.invalid", "", 45), ("none.invalid", "", 45),
    ]) func interface(_ value: String, _ address: String, _ status: Int32) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let run = try await ToolRun(
            ["--interface", value, "-w", "%{local_ip}", "-o", "/dev/null", server.url("/digits")])
        #expect(run.status == status && run.text == address, "\(run.text) \(run.errors)")
        if status != 0 { #expect(run.errors.contains("--interface") && server.requests.snapshot.isEmpty) }
    }

    /// One request on a connection, without what HTTP/1.0 does not have.
    @Test(arguments: ["-0", "--http1.0"]) func http10(_ option: String) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let run = try await ToolRun(["-v", option, "-d", "x", server.url("/old"), server.url("/digits")])
        #expect(run.status == 0 && run.text.hasSuffix(CurlServer.digits), "\(run.errors)")
        let lines = Self.lines(run)
        #expect(
            lines.filter { $0.hasPrefix("> ") && $0.contains(" HTTP/") } == [
                "> POST /old HTTP/1.0", "> GET /echo HTTP/1.0", "> POST /digits HTTP/1.0",
            ])
        #expect(lines.contains { $0.hasPrefix("> Host: ") } && !lines.contains { $0.hasPrefix("> Connection") })
        #expect(server.openings.count == 3)
    }

    // MARK: TLS

    @Test func ciphers() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: authority.issue()) { .text($0.tls?.cipherSuite ?? "") }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write(authority.certificatePEM, to: "ca.pem")
        let list = "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
        for (options, name, status) in [
            (["--tls-max", "1.2", "--ciphers", list], "CHACHA20-POLY1305", 0),
            (["--tls13-ciphers", "TLS_AES_128_GCM_SHA256"], "TLS_AES_128_GCM_SHA256", 0),
            (["--ciphers", "NONE-OF-THEM"], "", 59), (["--tls13-ciphers", "NONE"], "", 59),
        ] {
            let run = try await ToolRun(
                options + ["--cacert", "ca.pem", server.url("/", host: "localhost")], folder: folder)
            #expect(run.status == Int32(status) && run.text.hasSuffix(name), "\(options) \(run.errors)")
            if status != 0 { #expect(run.errors.contains("(\(options[0]))")) }
        }
    }

    @Test func certificates() async throws {
        let authority = try CertificateAuthority()
        var options = TLSServerOptions(try authority.issue())
        options.clientAuthoritiesPEM = [authority.certificatePEM]
        options.requiresClientCertificate = true
        let server = try LoopbackServer(.init(tls: options), route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let client = try authority.issue(.client("me"))
        try folder.write(authority.certificatePEM, to: "ca.pem")
        try folder.write(client.certificatePEM, to: "cert.pem")
        try folder.write(client.privateKeyPEM, to: "key.pem")
        try folder.write(client.certificatePEM + client.privateKeyPEM, to: "both.pem")
        try folder.write(IdentityFiles.encryptedPEM(client.privateKeyPEM, password: "hidden"), to: "locked.pem")
        try folder.write(
            IdentityFiles.pkcs12(client.certificatePEM, key: client.privateKeyPEM, password: "hidden"), to: "me.p12")
        try folder.write(
            IdentityFiles.pkcs12(client.certificatePEM, key: client.privateKeyPEM, password: "h:i:d"), to: "colon.p12")
        let url = server.url("/digits", host: "localhost")
        for option in [
            ["--cert", "cert.pem", "--key", "key.pem"], ["-E", "both.pem"], ["--cert", "both.pem:unused"],
            ["--cert", "cert.pem", "--key", "locked.pem", "--pass", "hidden"], ["--cert", "me.p12:hidden"],
            ["--cert", "/dev/stdin"],
            ["--cert", "colon.p12:h:i:d"],
        ] {
            // A pipe gives its bytes once.
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data((client.certificatePEM + client.privateKeyPEM).utf8))
            try pipe.fileHandleForWriting.close()
            let run = try await ToolRun(
                option + ["--cacert", "ca.pem", url], folder: folder, standardInput: pipe.fileHandleForReading)
            #expect(run.text == CurlServer.digits, "\(option) \(run.errors)")
        }
        let wrong = ["--cert", "cert.pem", "--key", "locked.pem", "--pass", "secret", url]
        let locked = try await ToolRun(wrong, folder: folder)
        #expect(locked.status == 58 && !locked.errors.contains("secret"))
        let none = try await ToolRun(["--cacert", "ca.pem", url], folder: folder)
        #expect(none.status == 58 && none.errors.contains("--cert") && !none.errors.contains("URLCredential"))
        let untrusted = try await ToolRun(["-E", "both.pem", url], folder: folder)
        #expect(untrusted.status == 60 && untrusted.errors.contains("--cacert"))
    }

    @Test func pinsAndVersions() async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue()
        let server = try LoopbackServer(tls: identity, route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write(authority.certificatePEM, to: "ca.pem")
        let pin = try X509Certificate(pemRepresentation: identity.certificatePEM).publicKeySHA256.base64EncodedString()
        let other = Data(repeating: 1, count: 32).base64EncodedString()
        let cases: [([String], Int32)] = [
            (["--pinnedpubkey", "sha256//\(pin)"], 0), (["--pinnedpubkey", "sha256//\(other);sha256//\(pin)"], 0),
            (["--pinnedpubkey", "sha256//\(other)"], 90), (["--tlsv1.3"], 0), (["--tls-max", "1.2"], 0),
            (["--tlsv1.2"], 0),
        ]
        for (option, status) in cases {
            let run = try await ToolRun(
                option + ["-v", "--cacert", "ca.pem", server.url("/digits", host: "localhost")], folder: folder)
            #expect(
                run.status == status && run.text == (status == 0 ? CurlServer.digits : ""), "\(option) \(run.errors)")
            #expect(!option.contains("--tls-max") || run.errors.contains("* TLSv1.2"))
        }
        // The failure of another load has its own reason.
        let refused = try await ToolRun(
            [
                "--pinnedpubkey", "sha256//\(other)", "--cacert", "ca.pem", server.url("/digits", host: "localhost"),
                "http://127.0.0.1:1/",
            ], folder: folder)
        #expect(refused.status == 7 && refused.errors.contains("(90)"), "\(refused.errors)")
    }

    @Test func hsts() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: try authority.issue()) { _ in
            ServerResponse.text("secure").adding("Strict-Transport-Security", "max-age=1000; includeSubDomains")
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write(authority.certificatePEM, to: "ca.pem")
        let options = ["--hsts", "hosts", "--cacert", "ca.pem"]
        let url = server.url("/", host: "localhost")
        let first = try await ToolRun(options + [url], folder: folder)
        #expect(first.text == "secure", "\(first.errors)")
        let text = try String(contentsOf: folder.file("hosts"), encoding: .utf8)
        #expect(text.contains("\n.localhost \"20"))
        let upgraded = try await ToolRun(
            options + [url.replacingOccurrences(of: "https:", with: "http:")], folder: folder)
        #expect(upgraded.text == "secure", "\(upgraded.errors)")
        // The next request of a run reads what the one before it has written.
        func request(_ url: String) -> [String] { ["--hsts", "new", "--cacert", "ca.pem", url] }
        let both = try await ToolRun(
            request(url) + ["--next"] + request(url.replacingOccurrences(of: "https:", with: "http:")), folder: folder)
        #expect(both.text == "securesecure", "\(both.errors)")
    }

    // MARK: Files

    @Test func files() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        func run(_ arguments: String...) async throws -> Int32 {
            try await ToolRun(arguments.map { $0.hasPrefix("/") ? server.url($0) : $0 }, folder: folder).status
        }
        func content(_ name: String) -> String? { try? String(contentsOf: folder.file(name), encoding: .utf8) }
        #expect(try await run("--create-dirs", "-o", "a/b/c", "/digits") == 0 && content("a/b/c") == CurlServer.digits)
        #expect(try await run("--output-dir", "a", "-O", "/digits") == 0 && content("a/digits") == CurlServer.digits)
        #expect(try await run("-OJ", "/named") == 0 && content("given.txt") == "named\n")
        // A file that is there is not overwritten, and no name leads out of the folder.
        #expect(try await run("-OJ", "/named") == 23 && content("given.txt") == "named\n")
        #expect(try await run("-OJ", "/evil") == 0 && content("evil") == "evil\n" || content("evil.txt") == "evil\n")
        #expect(try await run("-R", "-o", "dated", "/dated") == 0)
        let date =
            try FileManager.default.attributesOfItem(atPath: folder.file("dated").path)[.modificationDate] as? Date
        #expect(date == Date(timeIntervalSince1970: 1_420_070_400))
        #expect(
            try await run("-D", "heads", "-o", "x", "/digits") == 0
                && content("heads")?.hasPrefix("HTTP/1.1 200 OK\r\n") == true)
        #expect(try await run("-c", "jar", "-o", "x", "/set") == 0 && content("jar")?.contains("\tone\t1\n") == true)
        // The cookies of a session are a secret.
        let mode =
            try FileManager.default.attributesOfItem(atPath: folder.file("jar").path)[.posixPermissions] as? NSNumber
        #expect(mode?.int16Value == 0o600)
        #expect(
            try await run("-b", "jar", "-o", "x", "/echo") == 0
                && content("x")?.contains("Cookie: one=1; two=2\n") == true)
        #expect(try await run("-o", "f#1", "/{digits,set}") == 0 && content("fset") == "set\n")
        #expect(
            try await run("--trace-ascii", "trace", "-o", "x", "/digits") == 0
                && content("trace")?.contains("<= Recv header") == true)
    }

    /// A file that is a symbolic link stays one: its target is written, and made where it is missing.
    @Test(arguments: [false, true]) func filesBehindLinks(areThere: Bool) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let options = ["-o", "-D", "--trace-ascii", "--timing-json", "--har", "-c", "--hsts"]
        let names = options.map { String($0.drop { $0 == "-" }) }
        for name in names {
            let target = try folder.write("former", to: "to/\(name)")
            if !areThere { try FileManager.default.removeItem(at: target) }
            try FileManager.default.createSymbolicLink(
                atPath: folder.file(name).path, withDestinationPath: "to/\(name)")
        }
        let run = try await ToolRun(
            zip(options, names).flatMap { [$0, $1] } + [server.url("/set")], folder: folder)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        for name in names {
            let link = folder.file(name).path
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "to/\(name)")
            let content = try String(contentsOf: folder.file("to/\(name)"), encoding: .utf8)
            // The response changes no hosts.
            let isKept = areThere && name == "hsts"
            #expect(!content.isEmpty && (content == "former") == isKept, "\(name): \(content)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("to").path).sorted() == names.sorted())
    }

    /// Who has the file open has all of its former content: it is not cut in place.
    @Test func filesThatAreReplaced() throws {
        let folder = try TemporaryFolder()
        let (file, link) = (try folder.write("old", to: "file"), folder.file("link"))
        try #require(chmod(file.path, 0o640) == 0 && symlink("file", link.path) == 0)
        let former = try FileHandle(forReadingFrom: file)
        for name in ["link", "new"] { try ReplacedFile.write(Data(name.utf8), to: folder.file(name).path) }
        #expect(try former.readToEnd() == Data("old".utf8))
        #expect(try String(contentsOf: file, encoding: .utf8) == "link")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "file")
        for (name, mode) in [("file", 0o640), ("new", 0o600)] as [(String, mode_t)] {
            var status = stat()
            #expect(stat(folder.file(name).path, &status) == 0 && status.st_mode & 0o777 == mode)
        }
        // A pipe gets what is written.
        let pipe = Pipe()
        try ReplacedFile.write(
            Data("piped".utf8), to: "/proc/self/fd/\(pipe.fileHandleForWriting.fileDescriptor)")
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data("piped".utf8))
        #expect(try folder.contents() == ["file", "link", "new"])
    }

    /// A file that is named by an open descriptor is written in place, also after it was unlinked.
    @Test(arguments: [false, true]) func filesOfDescriptors(isUnlinked: Bool) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("former", to: "file")
        let open = try FileHandle(forUpdating: file)
        if isUnlinked { try #require(unlink(file.path) == 0) }
        try ReplacedFile.write(Data("new".utf8), to: "/proc/self/fd/\(open.fileDescriptor)")
        #expect(try open.readToEnd() == Data("new".utf8))
        #expect(try folder.contents() == (isUnlinked ? [] : ["file"]))
    }

    /// Other names of a file have its new content, and its group may still read it.
    @Test func filesThatKeepTheirNamesAndGroup() throws {
        let folder = try TemporaryFolder()
        let (file, other) = (try folder.write("old", to: "file"), folder.file("other"))
        try #require(link(file.path, other.path) == 0)
        try ReplacedFile.write(Data("new".utf8), to: file.path)
        #expect(try String(contentsOf: other, encoding: .utf8) == "new")
        // A user may give a file to the groups that the user is in; the root may give it to any.
        var groups = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(Int32(groups.count), &groups)
        groups.removeLast(groups.count - max(0, Int(count)))
        if geteuid() == 0 { groups.append(12_345) }
        try #require(unlink(other.path) == 0)
        for group in groups where chown(file.path, uid_t.max, group) == 0 {
            try #require(chmod(file.path, 0o640) == 0)
            try ReplacedFile.write(Data("\(group)".utf8), to: file.path)
            var status = stat()
            #expect(stat(file.path, &status) == 0 && status.st_gid == group && status.st_mode & 0o777 == 0o640)
        }
    }

    /// What could not be read is not replaced, nor is what has not changed.
    @Test func hostsThatAreNotWritten() throws {
        let folder = try TemporaryFolder()
        let unreadable = HSTSFile(folder.path)
        #expect(unreadable.load().isEmpty)
        let error = #expect(throws: ToolFailure.self) { try unreadable.write() }
        #expect(error?.status == .readError)
        let file = try folder.write("one.example unlimited\n", to: "hosts")
        let hosts = HSTSFile(file.path)
        #expect(hosts.load().count == 1)
        try hosts.write()
        #expect(try String(contentsOf: file, encoding: .utf8) == "one.example unlimited\n")
    }

    /// A file that cannot be written at the end of a run costs no other one.
    @Test func filesAtTheEnd() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let run = try await ToolRun(
            ["--timing-json", "none/t", "--hsts", "hosts", "-c", "jar", "-o", "x", server.url("/set")], folder: folder)
        #expect(run.status == 23 && run.errors.contains("none/t"), "\(run.errors)")
        #expect(try String(contentsOf: folder.file("jar"), encoding: .utf8).contains("\tone\t1\n"))
        #expect(try String(contentsOf: folder.file("hosts"), encoding: .utf8).hasPrefix("# HSTS"))
        // The next request of a run reads what the one before it has written.
        let both = try await ToolRun(
            ["-c", "new", "-o", "x", server.url("/set"), "--next", "-b", "new", server.url("/echo")], folder: folder)
        #expect(both.text.contains("\nCookie: one=1; two=2\n"), "\(both.text) \(both.errors)")
    }

    /// A device without room is a reason to end with code 23, which is reported once.
    @Test(arguments: ["-o", "-D", "--trace-ascii", "--timing-json", "-c"])
    func filesWithoutRoom(_ option: String) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let run = try await ToolRun([option, "/dev/full", server.url("/set")])
        #expect(run.status == 23)
        #expect(run.errors == "loadkit: (23) /dev/full cannot be written: No space left on device\n")
    }

    /// A folder that takes no new files may have some that can be written. What cannot be written is said.
    @Test func filesInFoldersThatAreClosed() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("old", to: "closed/there")
        let closed = folder.file("closed").path
        try #require(chmod(closed, 0o500) == 0)
        defer { chmod(closed, 0o700) }
        let new = Data("new".utf8)
        try ReplacedFile.write(new, to: file.path)
        #expect(try Data(contentsOf: file) == new)
        var cases = [("none/jar", ENOENT), ("closed/there/jar", ENOTDIR), ("closed", EISDIR)]
        // Root may write everywhere.
        if geteuid() != 0 { cases.append(("closed/jar", EACCES)) }
        for (name, code) in cases {
            let path = folder.file(name).path
            let error = #expect(throws: ToolFailure.self) { try ReplacedFile.write(new, to: path) }
            #expect(error == ToolFailure.writing(path, code), "\(name)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: closed) == ["there"])
    }

    /// A repetition replaces the part of the body that the attempt before it has written, and no file of the user.
    @Test(arguments: [(nil, 0, CurlServer.digits), ("mine", 23, "mine")] as [(String?, Int32, String)])
    func repeatedIntoGivenName(_ there: String?, _ status: Int32, _ expected: String) async throws {
        let server = try LoopbackServer { request in
            let response =
                if request.connection == 0 {
                    ServerResponse.stream(.length(UInt64(CurlServer.digits.utf8.count))) { writer in
                        try writer.write("01234")
                        try request.exchange.closeAbruptly()
                    }
                } else {
                    ServerResponse.text(CurlServer.digits)
                }
            return response.adding("Content-Disposition", "attachment; filename=\"given.txt\"")
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        if let there { try folder.write(there, to: "given.txt") }
        let run = try await ToolRun(
            ["-OJ", "--retry", "1", "--retry-all-errors", "--retry-delay", "0.01", server.url("/x")], folder: folder)
        #expect(run.status == status, "\(run.errors)")
        #expect(server.requests.count == 2)
        #expect(try String(contentsOf: folder.file("given.txt"), encoding: .utf8) == expected)
    }

    @Test func continued() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let digits = CurlServer.digits
        for (there, options, path, status, expected) in [
            ("012", "", "/digits", 0, digits), ("", "", "/digits", 0, digits), (digits, "", "/digits", 0, digits),
            (digits, "-f", "/digits", 0, digits), (digits, "--fail-with-body", "/digits", 0, digits),
            // What follows the file's bytes does not come: the file stays as it is.
            ("x", "", "/named", 33, "x"), ("x", "", "/missing", 33, "x"), ("x", "", "/busy", 33, "x"),
            ("x", "--retry 1 --retry-delay 0.01", "/busy", 33, "x"), ("x", "--fail-with-body", "/missing", 33, "x"),
            ("x", "-f", "/missing", 22, "x"), (digits + "x", "", "/digits", 33, digits + "x"),
            (digits + "x", "-f", "/digits", 22, digits + "x"),
        ] as [(String, String, String, Int32, String)] {
            try folder.write(there, to: "f")
            let arguments = options.split(separator: " ").map(String.init)
            let run = try await ToolRun(arguments + ["-C", "-", "-o", "f", server.url(path)], folder: folder)
            #expect(run.status == status, "\(there) \(options) \(path) \(run.errors)")
            #expect(try String(contentsOf: folder.file("f"), encoding: .utf8) == expected)
        }
        let part = try await ToolRun(["-C", "8", server.url("/digits")])
        #expect(part.text == "89")
    }

    /// Zeros would take the place of the bytes that are gone.
    @Test(arguments: [nil, "01"]) func continuedFileThatLosesBytes(_ rest: String?) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("0123", to: "f")
        let server = try LoopbackServer(route: { request in
            try FileManager.default.removeItem(at: file)
            if let rest { try Data(rest.utf8).write(to: file) }
            return try CurlServer.answer(request)
        })
        defer { server.stop() }
        let run = try await ToolRun(["-C", "-", "-o", "f", server.url("/digits")], folder: folder)
        #expect(run.status == 23 && run.errors.contains(rest == nil ? "No such file" : "shorter"), "\(run.errors)")
        #expect((try? String(contentsOf: file, encoding: .utf8)) == rest)
    }

    @Test(arguments: [0, 10, FaultyFTPServer.file.count]) func continuedOverFTP(_ there: Int) async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write(Data(FaultyFTPServer.file.prefix(there)), to: "f")
        let run = try await ToolRun(["-C", "-", "-o", "f", server.url()], folder: folder)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try Data(contentsOf: folder.file("f")) == Data(FaultyFTPServer.file))
    }

    /// A file that is not there, a folder that cannot be entered, and an upload that is refused.
    @Test(
        arguments: [
            (["SIZE", "RETR", "CWD"], [], "/file.txt", 78), (["CWD"], [], "/folder/", 9),
            (["STOR"], ["-T", "-"], "/file.txt", 25),
        ] as [([String], [String], String, Int32)])
    func refusedOverFTP(steps: [String], options: [String], path: String, status: Int32) async throws {
        let server = try FaultyFTPServer(steps.map { .init(step: $0, act: .reply("550 no\r\n")) })
        defer { server.stop() }
        let run = try await ToolRun(options + [server.url(path)], input: "text")
        #expect(run.status == status && server.hasFailed, "\(run.errors)")
    }

    @Test(arguments: ["", "0123", "0123456789"]) func continuedFromAFile(_ there: String) async throws {
        let folder = try TemporaryFolder()
        let original = try folder.write("0123456789", to: "original")
        try folder.write(there, to: "f")
        let run = try await ToolRun(["-C", "-", "-o", "f", original.absoluteString], folder: folder)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try String(contentsOf: folder.file("f"), encoding: .utf8) == "0123456789")
    }

    /// What is loaded from a byte on is appended to the file, however long it is, also to the one to which a symbolic
    /// link leads.
    @Test(
        arguments: [
            ("abc", "abc89", nil), ("0123456789", "012345678989", nil), (nil, "89", nil), ("ab", "ab89", "target"),
            ("0123456789", "012345678989", "target"), (nil, "89", "target"),
        ] as [(String?, String, String?)])
    func continuedAtByte(_ there: String?, _ expected: String, _ target: String?) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        if let target {
            try FileManager.default.createSymbolicLink(atPath: folder.file("f").path, withDestinationPath: target)
        }
        if let there { try folder.write(there, to: target ?? "f") }
        let run = try await ToolRun(["-C", "8", "-o", "f", server.url("/digits")], folder: folder)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try String(contentsOf: folder.file(target ?? "f"), encoding: .utf8) == expected)
    }

    /// A load begins where the load before it has ended the same file, in the same request of the run or in another.
    @Test(arguments: [[], ["--next", "-C", "-"]]) func continuedAfterAnotherLoad(_ separator: [String]) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let load = ["-o", "f", server.url("/digits")]
        let run = try await ToolRun(["-C", "-"] + load + separator + load, folder: folder)
        #expect(run.status == 0, "\(run.errors)")
        #expect(server.requests.snapshot.map { $0.fields[name: "Range"] } == [nil, "bytes=10-"])
        #expect(try String(contentsOf: folder.file("f"), encoding: .utf8) == CurlServer.digits)
    }

    /// A repetition begins where the first attempt did, and what that has written is gone.
    @Test(arguments: [("8", "abc", "abc89"), ("-", "01234567", "0123456789")])
    func continuedAgain(_ offset: String, _ there: String, _ expected: String) async throws {
        let server = try LoopbackServer { request in
            guard request.connection == 0 else { return try CurlServer.answer(request) }
            var response = ServerResponse.stream(.length(100)) { writer in
                try writer.write("much that is longer")
                try request.exchange.closeAbruptly()
            }
            response.status = 206
            return response.adding("Content-Range", "bytes 8-107/108")
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write(there, to: "f")
        let run = try await ToolRun(
            [
                "-C", offset, "-o", "f", "--retry", "1", "--retry-all-errors", "--retry-delay", "0.01",
                server.url("/digits"),
            ], folder: folder)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try String(contentsOf: folder.file("f"), encoding: .utf8) == expected)
    }

    @Test func uploads() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write("content", to: "file.txt")
        let put = try await ToolRun(["-T", "file.txt", server.url("/echo")], folder: folder)
        #expect(put.text.hasPrefix("PUT /echo\n") && put.text.contains("\nContent-Length: 7\n"))
        #expect(put.text.hasSuffix("\n\ncontent\n") && !put.text.contains("Upload-"))
        let named = try await ToolRun(["-T", "file.txt", "-X", "POST", server.url("/")], folder: folder)
        #expect(named.text == "nothing here\n" && server.requests.snapshot.last?.target == "/file.txt")
        try folder.write("content", to: "a b%.txt")
        for (file, options, path, target) in [
            ("file.txt", [], "/a%2Fb%20c/", "/a%2Fb%20c/file.txt"), ("file.txt", [], "/%FF/", "/%FF/file.txt"),
            ("file.txt", ["--url-query", "a=1"], "/a/", "/a/file.txt?a=1"), ("file.txt", [], "", "/file.txt"),
            ("a b%.txt", [], "/", "/a%20b%25.txt"),
        ] as [(String, [String], String, String)] {
            let run = try await ToolRun(options + ["-T", file, server.url(path)], folder: folder)
            #expect(run.status == 0 && server.requests.snapshot.last?.target == target, "\(path) \(run.errors)")
        }
        let form = try await ToolRun(
            [
                "-u", "a:b", "-F", "f=@file.txt;type=x/y", "-F", "text=<file.txt", server.url("/digest"),
                server.url("/echo"),
            ],
            folder: folder)
        #expect(
            form.text.hasPrefix("Digest accepted\nPOST /echo\n")
                && form.text.contains("filename=\"file.txt\"\r\nContent-Type: x/y\r\n\r\ncontent"))
    }

    // MARK: Login

    @Test func signature() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let run = try await ToolRun(["--aws-sigv4", "aws:amz:eu-x:svc", "-u", "KEY:secret", server.url("/echo")])
        #expect(
            run.text.contains("\nAuthorization: AWS4-HMAC-SHA256 Credential=KEY/")
                && run.text.contains("/eu-x/svc/aws4_request, "))
        #expect(run.text.contains("SignedHeaders=host;x-amz-date, ") && run.text.contains("\nX-Amz-Date: "))
        for option in [["--aws-sigv4", "other"], ["--aws-sigv4", "aws:amz"]] {
            #expect(try await ToolRun(option + [server.url("/echo")]).status == 2)
        }
    }

    /// Each attempt is signed with the date at which it is sent.
    @Test func signatureOfEachAttempt() async throws {
        let options = ["--aws-sigv4", "aws:amz:eu-x:svc", "-u", "KEY:secret"]
        let plan = try LoadPlan(LoadCommand.parse(options + ["http://127.0.0.1:1/"]))
        let load = try #require(plan.loads.first)
        #expect(load.request.value(forHTTPHeaderField: "X-Amz-Date") == nil)
        let sent = [0, 60].map { load.requestToSend(plan.content, at: Date(timeIntervalSince1970: $0)) }
        let dates = sent.map { $0.value(forHTTPHeaderField: "X-Amz-Date") }
        #expect(dates == ["19700101T000000Z", "19700101T000100Z"])
        #expect(Set(sent.map { $0.value(forHTTPHeaderField: "Authorization") }).count == 2)
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let run = try await ToolRun(["--retry", "1"] + options + [server.url("/flaky")])
        #expect(run.text == "ready\n", "\(run.errors)")
        let authorizations = server.requests.snapshot.compactMap { $0.fields[name: "Authorization"] }
        #expect(authorizations.count == 2 && authorizations.allSatisfy { $0.hasPrefix("AWS4-HMAC-SHA256 ") })
    }

    /// The names of the service and of the region, and the signed host, are those of the host that is sent.
    @Test(arguments: [
        ("http://Svc.EU-x.example/", "http://svc.eu-x.example/", "/eu-x/svc/"),
        ("http://bücher.EU-x.example/", "http://xn--bcher-kva.eu-x.example/", "/eu-x/xn--bcher-kva/"),
        ("http://b%C3%BCcher.EU-x.example/", "http://xn--bcher-kva.eu-x.example/", "/eu-x/xn--bcher-kva/"),
    ])
    func signatureOfHost(_ url: String, _ canonical: String, _ scope: String) throws {
        let authorizations = try [url, canonical].map { url -> String in
            let plan = try LoadPlan(LoadCommand.parse(["--aws-sigv4", "aws:amz", "-u", "KEY:secret", url]))
            let request = try #require(plan.loads.first).requestToSend(plan.content, at: Date(timeIntervalSince1970: 0))
            return try #require(request.value(forHTTPHeaderField: "Authorization"))
        }
        #expect(authorizations[0] == authorizations[1] && authorizations[0].contains("\(scope)aws4_request"))
    }

    /// The secret is no password: also a request without the signature, behind redirects, does not get it.
    @Test(arguments: [["-u", "KEY:secret"], ["--basic", "-u", "KEY:secret"], []])
    func secretOfSignature(_ login: [String]) async throws {
        let route: LoopbackServer.Route = { request in
            request.query.map { ServerResponse.redirect(to: $0) }
                ?? ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        }
        let (first, second) = (try LoopbackServer(route: route), try LoopbackServer(route: route))
        defer {
            first.stop()
            second.stop()
        }
        let host = login.isEmpty ? "KEY:secret@\(first.address.host)" : nil
        let url = first.url("/away?" + second.url("/back?" + first.url("/end")), host: host)
        let run = try await ToolRun(["--aws-sigv4", "aws:amz:eu-x:svc"] + login + [url])
        #expect(run.status == 0, "\(run.errors)")
        let requests = first.requests.snapshot + second.requests.snapshot
        #expect(requests.map(\.path) == ["/away", "/end", "/back"])
        let sent = requests.map { $0.fields[name: "Authorization"] }
        #expect(sent.first??.hasPrefix("AWS4-HMAC-SHA256 ") == true)
        #expect(!sent.contains { $0?.hasPrefix("Basic ") == true })
    }

    @Test func netrc() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let url = server.url("/digest")
        let home = ["HOME": folder.path]
        let missing = try await ToolRun(["-n", url], environment: home)
        #expect(missing.status == 26)
        let optional = try await ToolRun(["--netrc-optional", url], environment: home)
        #expect(optional.text == "nothing refused\n")
        try folder.write("machine 127.0.0.1\n  login a\n  password b\n", to: ".netrc")
        let run = try await ToolRun(["-n", url], environment: home)
        #expect(run.text == "Digest accepted\n")
    }

    /// The login is for the server of the given URL, also where another URL is loaded in its place.
    @Test func loginOfReplacedURLs() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: try authority.issue(), route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write(authority.certificatePEM, to: "ca.pem")
        try folder.write("localhost \"20990101 00:00:00\"\n", to: "hosts")
        // HSTS changes the port, too, where the URL has none.
        let upgraded = try await ToolRun(
            [
                "--hsts", "hosts", "--cacert", "ca.pem", "-u", "a:b", "--connect-to",
                "localhost:443:127.0.0.1:\(server.address.port ?? 0)", "http://localhost/digest",
            ], folder: folder)
        #expect(upgraded.text == "Digest accepted\n", "\(upgraded.errors)")
        let local = try LoopbackServer(.init(.unix(path: folder.file("s").path)), route: CurlServer.answer)
        defer { local.stop() }
        let path = folder.file("s").path.replacingOccurrences(of: "/", with: "%2F")
        let socket = try await ToolRun(["-u", "a:b", "http+unix://\(path)/digest"])
        #expect(socket.text == "Digest accepted\n", "\(socket.errors)")
    }

    @Test(.enabled(if: PseudoTerminal.isAvailable, PseudoTerminal.missing)) func password() async throws {
        let terminal = try PseudoTerminal()
        let path = try FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/fd/\(terminal.far.fileDescriptor)")
        async let asked = onThread { try PasswordPrompt.ask("joe", on: path) }
        let shown = try await onThread { try terminal.read(until: "Password of joe: ") }
        try terminal.type("open sesame\n")
        #expect(try await asked == "open sesame" && !shown.contains("sesame"))
        #expect(throws: ToolFailure.self) { try PasswordPrompt.ask("joe", on: "/nonexistent") }
        #expect(terminal.showsInput)
    }

    /// Ctrl-C and `SIGTERM` at the prompt end the tool, and the terminal shows again what is typed.
    @Test(.enabled(if: PseudoTerminal.isAvailable, PseudoTerminal.missing), arguments: [SIGINT, SIGTERM])
    func passwordInterrupted(by number: Int32) async throws {
        let (terminal, folder) = (try PseudoTerminal(), try TemporaryFolder())
        let streams = ChildProcess.Streams(
            input: terminal.far.fileDescriptor, output: terminal.far.fileDescriptor,
            errors: terminal.far.fileDescriptor)
        // A session of its own, whose terminal this one is.
        let process = try ChildProcess(
            "/usr/bin/setsid", ["-c", "-w", ToolRun.executable("loadkit"), "-u", "joe", "http://127.0.0.1:1/"],
            folder: folder.url.path, environment: [:], streams: streams)
        _ = try await onThread { try terminal.read(until: "Password of joe: ") }
        #expect(!terminal.showsInput)
        if number == SIGINT { try terminal.type("\u{3}") } else { kill(terminal.foreground, number) }
        let status = try await onThread { process.waitForExit() }
        #expect(status != 0 && terminal.showsInput)
    }
}
