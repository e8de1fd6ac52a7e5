import Foundation
import Glibc
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// What reaches the program through `loadkitd`.
@Suite(.timeLimit(.minutes(5))) struct RealDaemonTests {
    /// The challenge comes to the program's delegate, and its answer goes back with the key.
    @Test func aClientsCertificateIsAnAnswer() async throws {
        let authority = try CertificateAuthority()
        var options = TLSServerOptions(try authority.issue())
        options.clientAuthoritiesPEM = [authority.certificatePEM]
        options.requiresClientCertificate = true
        let server = try LoopbackServer(LoopbackServer.Options(tls: options)) { request in
            .text(request.tls?.peerCertificateDER == nil ? "nobody" : "somebody")
        }
        defer { server.stop() }
        let files = try TemporaryFolder()
        let client = try authority.issue(.client("Ada"))
        let identity = try files.write(client.certificatePEM + client.privateKeyPEM, to: "identity")
        let roots = try files.write(authority.certificatePEM, to: "roots")
        let programs = try ChaosPrograms(variables: ["PROBE_IDENTITY": identity.path, "PROBE_ROOTS": roots.path])
        try await onThread {
            let program = try programs.start()
            program.send("get a \(server.url("/"))")
            #expect(program.next(with: "identity") != nil)
            #expect(program.next(with: "end") == ["end", "a", "0"])
        }
        #expect(try String(contentsOf: programs.folder.file("got/a"), encoding: .utf8) == "somebody")
        // The key is nowhere on the disk but where the program has it.
        let key = try #require(client.privateKeyPEM.split(separator: "\n").dropFirst().first)
        let all = FileManager.default.enumerator(at: programs.folder.url, includingPropertiesForKeys: nil)
        for case let file as URL in try #require(all) {
            guard let bytes = try? Data(contentsOf: file) else { continue }
            #expect(bytes.range(of: Data(key.utf8)) == nil, "\(file.path)")
        }
    }

    /// Whichever program has started the daemon.
    @Test(arguments: [false, true]) func trustIsThatOfTheProgram(ofTheFirst: Bool) async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(LoopbackServer.Options(tls: TLSServerOptions(try authority.issue()))) { _ in
            .text("secret")
        }
        defer { server.stop() }
        let files = try TemporaryFolder()
        let roots = try files.write(authority.certificatePEM, to: "roots").path
        let log = files.file("keys").path
        let programs = try ChaosPrograms()
        let trusting = ["/usr/bin/env", "SSL_CERT_FILE=\(roots)", "SSLKEYLOGFILE=\(log)"]
        let codes = try await onThread {
            var codes: [String] = []
            for isTrusting in [ofTheFirst, !ofTheFirst] {
                let program = try programs.start("trusting-\(isTrusting)", by: isTrusting ? trusting : [])
                program.send("get \(isTrusting) \(server.url("/"))")
                let code = program.waitForEnd(of: "\(isTrusting)")
                codes.append(code ?? "none")
            }
            return codes
        }
        #expect(codes[ofTheFirst ? 0 : 1] == "0")
        #expect(codes[ofTheFirst ? 1 : 0] == "\(URLError.serverCertificateHasUnknownRoot.rawValue)")
        #expect(programs.daemons.count == 1)
        let keys = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        #expect(keys.contains { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") })
        let randoms = Set(keys.compactMap { $0.split(separator: " ").dropFirst().first })
        #expect(randoms.count == 1, "connections of the other program")
    }

    /// The daemon has the limit of file sizes of the program that starts it.
    @Test func aFileBeyondTheLimitOfSizesIsTheEndOfItsTransferAlone() async throws {
        let server = try LoopbackServer { request in
            .bytes([UInt8](repeating: 7, count: request.path == "/large" ? 12_000_000 : 3))
        }
        defer { server.stop() }
        let programs = try ChaosPrograms()
        let codes = try await onThread {
            // In units of 512 bytes. The journal takes less.
            let program = try programs.start(by: ["/bin/sh", "-c", "ulimit -f 16384 && exec \"$0\" \"$@\""])
            var codes: [String?] = []
            for name in ["large", "small"] {
                program.send("get \(name) \(server.url("/\(name)"))")
                codes.append(program.waitForEnd(of: name))
            }
            return codes
        }
        #expect(codes == ["\(URLError.cannotWriteToFile.rawValue)", "0"])
        #expect(programs.daemons.count == 1)
    }

    /// As Apple's documentation tells programs to change a session's settings.
    @Test(arguments: [false, true]) func aSessionIsMadeAnewWhenItHasBecomeInvalid(runsInProcess: Bool) async throws {
        let programs = try ChaosPrograms(runsInProcess: runsInProcess)
        let line = try await onThread {
            let program = try programs.start()
            program.send("renew 200")
            return program.next(with: "renewed")
        }
        #expect(line == ["renewed", "200"])
    }

    /// The daemon ignores some signals, has a mask of rights and a folder of its own; the programs that it starts do not.
    @Test func aProgramIsStartedAsUsual() async throws {
        let gate = Signal()
        let server = try LoopbackServer { _ in
            .stream(.length(400_000)) { body in
                try body.write([UInt8](repeating: 1, count: 200_000))
                try body.wait(for: gate)
                try body.write([UInt8](repeating: 2, count: 200_000))
            }
        }
        defer {
            gate.fire()
            server.stop()
        }
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        let command =
            "/bin/sh|-c|(umask; pwd; echo $SSL_CERT_DIR; grep -e SigIgn -e SigBlk /proc/self/status) > \"$0\"|\(pipe)"
        let variables = ["PROBE_LAUNCH": command, "HOME": folder.path, "SSL_CERT_DIR": "/etc/ssl/certs"]
        let programs = try ChaosPrograms(variables: variables)
        let said = try await onThread {
            let program = try programs.start()
            program.send("get a \(server.url("/"))")
            #expect(program.next(with: "wrote") != nil)
            program.kill()
            gate.fire()
            return try FileHandle(forReadingFrom: URL(fileURLWithPath: pipe)).readToEnd()
        }
        // Beyond the first 31 are those that the C library has for itself.
        let lines = String(decoding: said ?? Data(), as: UTF8.self).split(separator: "\n")
        let mask = umask(0)
        umask(mask)
        #expect(lines.prefix(3) == [String(format: "%04o", mask)[...], folder.path[...], "/etc/ssl/certs"])
        let signals = lines.dropFirst(3).map { line in
            line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }.map { $0 & 0x7FFF_FFFF }
        }
        #expect(signals == [0, 0])
    }

    /// `loadkit background add` to another file system: the file is copied, and nothing else is left there.
    @Test func aDestinationOnAnotherFileSystem() async throws {
        let server = try LoopbackServer { _ in .bytes([UInt8](repeating: 7, count: 300_000)) }
        defer { server.stop() }
        let programs = try ChaosPrograms()
        let state = programs.folder.file("state")
        try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
        let target = programs.folder.file("got")
        // Too small at first, for the file as a whole.
        let script = """
            mount -t tmpfs -o mode=700,size=200k tmpfs "$0" || exit 1
            "$@" background add "$URL" -o "$0/file" || exit 1
            until "$@" background list | grep -q 'waits to try again'; do sleep 0.1; done
            test ! -e "$0/file" || exit 2
            mount -o remount,size=1m "$0" || exit 3
            until test -e "$0/file"; do sleep 0.1; done
            until "$@" background list | grep -q 'No background transfers'; do sleep 0.1; done
            ls -A "$0"; wc -c < "$0/file"
            """
        let output = try programs.folder.write("", to: "output")
        let file = try FileHandle(forWritingTo: output)
        let process = try ChildProcess(
            "/usr/bin/unshare",
            Namespaces.ofMounts + [
                "/bin/sh", "-c", script, target.path, try ProgramRun.executable("loadkit"),
            ], environment: programs.environment.merging(["URL": server.url("/file")]) { $1 },
            streams: .init(output: file.fileDescriptor, errors: 2))
        #expect(try await onThread { process.waitForExit() } == 0)
        #expect(try String(contentsOf: output, encoding: .utf8) == "1  \(target.path)/file\nfile\n300000\n")
    }
}
