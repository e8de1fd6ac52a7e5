import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Real servers as processes.
@Suite struct ServerProcessTests {
    @Test func nginxServesFilesPlainAndOverTLS() async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue()
        try await withTimeout {
            let server = try await onThread {
                try NginxServer(
                    files: ["a.txt": Array("hello".utf8)], identity: identity,
                    directives: "location = /teapot { return 418; }")
            }
            defer { server.stop() }
            let (plain, secure) = try await onThread { () -> (String, String) in
                let plain = try LoopbackClient(.ipv4(port: server.httpPort))
                try plain.send("GET /teapot HTTP/1.1\r\nHost: h\r\n\r\n")
                let port = try #require(server.httpsPort)
                let context = try TLSClientContext(trusting: [authority.certificatePEM])
                let secure = try LoopbackClient(.ipv4(port: port), tls: context)
                try secure.send("GET /a.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                return (try plain.receive(through: "\r\n"), try secure.receiveAll())
            }
            #expect(plain.hasPrefix("HTTP/1.1 418"))
            #expect(secure.hasPrefix("HTTP/1.1 200"))
            #expect(secure.hasSuffix("\r\n\r\nhello"))
        }
    }

    @Test(arguments: ["stop", "abandon"])
    func leavesNothingBehind(how: String) async throws {
        try await withTimeout {
            // A master that is killed cannot reap its worker: that is left to init, which a container may lack.
            let server = try await onThread { try NginxServer(hasWorker: how == "stop") }
            defer { server.stop() }
            let folder = server.process.setup.folder.path
            let processes = try processes(mentioning: folder)
            // The watching shell at least: nginx may be rewriting its own words at this moment.
            #expect(!processes.isEmpty)
            try await onThread { how == "stop" ? server.process.stopAndWait() : server.process.abandon() }
            #expect(!FileManager.default.fileExists(atPath: folder))
            // Processes of this test's own that ended but were not reaped yet have no command line.
            #expect(try self.processes(mentioning: folder) == [])
        }
    }

    @Test func saysWhatIsWrong() async throws {
        try await withTimeout {
            let missing = await #expect(throws: MissingProgram.self) {
                try await onThread {
                    _ = try ServerProcess.start("no-such-server", aptPackage: "some-package", portCount: 1) { _ in [] }
                }
            }
            #expect(missing?.description.contains("apt-get install -y some-package") == true)
            let error = await #expect(throws: ServerProcessError.self) {
                try await onThread { _ = try NginxServer(directives: "no_such_directive on;") }
            }
            #expect(error?.description.contains("no_such_directive") == true)
        }
    }

    /// The processes whose command line has this text: nginx and the shell that watches over it.
    private func processes(mentioning text: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            guard Int(name) != nil, let bytes = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") else {
                return false
            }
            return String(decoding: bytes, as: UTF8.self).contains(text)
        }
    }
}
