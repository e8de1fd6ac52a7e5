import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Programs of `Examples` that start a server with `--demo`, and the one whose proxy requires a certificate.
@Suite(.timeLimit(.minutes(5))) struct ServerExamplesTests {
    @Test(arguments: [
        (
            "UseJSON",
            """
            stored: Shopping
            all: ["Shopping"]
            failed: the server refused with 422: a note needs a title

            """, Int32(1)
        ),
        (
            "ResilientLoad",
            """
            load 1: status 200
            load 2: status 503
            load 3: not sent, as the server has failed too often
            load 4: not sent, as the server has failed too often
            requests to the server: 6

            """, 0
        ),
        (
            "InAServer",
            """
            echo: 3000000 bytes
            the upstream dies: the client's error is -1005
            a client leaves: the upstream is left, too
            a client leaves its upload: the upstream's breaks off
            stopping: 200000 bytes to the end
            stopped
            stopping without patience: the load is cut short

            """, 0
        ),
    ])
    func demo(_ name: String, _ output: String, _ status: Int32) async throws {
        let run = try await ProgramRun("\(name)Example", ["--demo"])
        #expect(run.text == output && run.status == status)
        let usage = try await ProgramRun("\(name)Example", [])
        #expect(usage.text.hasPrefix("usage: \(name)Example ") && usage.status == 2)
    }

    @Test func testWithStubs() async throws {
        let run = try await ProgramRun("TestWithStubsExample", [])
        #expect(
            run.text == """
                passed: the forecast is read
                passed: an absent city is no error
                passed: a request without a stub fails

                """)
        #expect(run.status == 0)
    }

    @Test func reportMetrics() async throws {
        let run = try await ProgramRun("ReportMetricsExample", ["--demo"])
        #if Telemetry
            let lines = run.text.split(separator: "\n")
            let facts = "http.response.status_code=200 url.template=/users/{id}"
            #expect(lines.contains("22 bytes"))
            #expect(Set(lines).contains("http.client.response.body.size \(facts) 22"), "\(run.text)")
            let duration = lines.first { $0.hasPrefix("http.client.request.duration \(facts) ") }
            #expect(duration?.hasSuffix(" seconds") == true, "\(run.text)")
        #else
            #expect(run.text.contains("Telemetry"))
        #endif
    }

    /// The proxy answers itself. It requires a certificate of the authority that it is given.
    @Test func proxyWithCertificate() async throws {
        let authority = try CertificateAuthority()
        var tls = TLSServerOptions(try authority.issue())
        tls.clientAuthoritiesPEM = [authority.certificatePEM]
        tls.requiresClientCertificate = true
        let proxy = try LoopbackServer(LoopbackServer.Options(tls: tls)) { .text("for \($0.target)") }
        defer { proxy.stop() }
        let folder = try TemporaryFolder()
        let identity = try authority.issue(.client("Ada"))
        let client = try folder.write(identity.certificatePEM + identity.privateKeyPEM, to: "client.pem")
        let stranger = try CertificateAuthority().issue(.client("Eve"))
        let other = try folder.write(stranger.certificatePEM + stranger.privateKeyPEM, to: "other.pem")
        let trusted = ["SSL_CERT_FILE": try folder.write(authority.certificatePEM, to: "authority.pem").path]
        func run(_ file: URL) async throws -> ProgramRun {
            try await ProgramRun(
                "ProxyWithCertificateExample",
                ["http://intranet/page", proxy.url("", host: "localhost"), file.path], environment: trusted)
        }
        let admitted = try await run(client)
        #expect(admitted.text == "200, 24 bytes\n" && admitted.status == 0)
        #expect(proxy.requests.snapshot.map(\.target) == ["http://intranet/page"])
        let refused = try await run(other)
        #expect(refused.text == "refused: the proxy does not accept the certificate\n" && refused.status == 1)
        #expect(proxy.requests.count == 1)
    }

    /// The front ends with its input.
    @Test func inAServerEndsWithItsInput() async throws {
        let run = try await ProgramRun("InAServerExample", ["http://127.0.0.1:9"])
        #expect(run.text.hasPrefix("at http://127.0.0.1:") && run.text.hasSuffix("/\nstopped\n") && run.status == 0)
    }
}
