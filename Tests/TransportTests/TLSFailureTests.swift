import CLoadingKitOpenSSL
import Glibc
import LoadingKitTransport
import Testing

/// Each way in which a TLS connection is refused, by its reason.
@Suite struct TLSFailureTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var names: String? = "DNS:localhost,DNS:*.example.test,IP:127.0.0.1"
        var validity = -3600...86_400
        var isIssued = true
        var isTrusted = true
        var host = "localhost"
        var reason: CertificateFailure.Reason?
    }

    private static let cases = [
        Case(testDescription: "fine"),
        Case(testDescription: "address", host: "127.0.0.1"),
        Case(testDescription: "absolute name", host: "localhost."),
        Case(testDescription: "wildcard", host: "a.example.test"),
        Case(testDescription: "expired", validity: -7200 ... -3600, reason: .expired),
        Case(testDescription: "not yet valid", validity: 3600...7200, reason: .notYetValid),
        Case(testDescription: "self-signed", isIssued: false, reason: .selfSigned),
        Case(testDescription: "unknown authority", isTrusted: false, reason: .unknownAuthority),
        Case(testDescription: "other host", host: "other.test", reason: .hostMismatch),
        Case(testDescription: "other address", host: "127.0.0.2", reason: .hostMismatch),
        Case(testDescription: "wildcard of one level", host: "a.b.example.test", reason: .hostMismatch),
        Case(testDescription: "wildcard's own name", host: "example.test", reason: .hostMismatch),
        Case(testDescription: "name in the subject", names: "DNS:elsewhere", host: "Subject", reason: .hostMismatch),
        Case(testDescription: "address as a name", names: "DNS:127.0.0.1", host: "127.0.0.1", reason: .hostMismatch),
    ]

    @Test(arguments: cases)
    private func certificates(_ test: Case) async throws {
        let authority = try TestCertificate("Authority", isAuthority: true)
        let other = try TestCertificate("Other Authority", isAuthority: true)
        var options = TLSPeer.Options()
        options.certificate = try TestCertificate(
            "Subject", alternativeNames: test.names, issuer: test.isIssued ? authority : nil, validity: test.validity)
        let peer = try TLSPeer(options) { _ = try $0.readToEnd() }
        defer { peer.stop() }
        let roots = test.isTrusted ? authority.pem : other.pem
        for verifies in [true, false] {
            let context = try TLSTests.context {
                $0.trustRoots = .pem(roots)
                $0.verifiesPeer = verifies
            }
            await withLoop { loop in
                let client = Client(loop)
                let error = await client.connect(peer.endpoint, tls: (context, test.host))
                if verifies, let reason = test.reason {
                    guard case .certificate(let failure) = error?.cause else {
                        Issue.record("\(String(describing: error))")
                        return
                    }
                    #expect(failure.reason == reason && failure.subject == "CN=Subject" && failure.depth == 0)
                    #expect(error?.phase == .tls)
                } else {
                    #expect(error == nil)
                    #expect(await client.info?.tls?.certificateFailure?.reason == test.reason)
                }
                await client.close()
            }
        }
    }

    @Test func additionalRootsAreTrustedBesides() async throws {
        let peer = try TLSPeer { _ = try $0.readToEnd() }
        defer { peer.stop() }
        let pem = try TestCertificates.shared.get().authority.pem
        let other = try TestCertificate("Other", isAuthority: true).pem
        try await withTemporaryFolder { folder in
            let path = folder + "/roots.pem"
            let file = fopen(path, "w")
            fwrite(pem, 1, pem.count, file)
            fclose(file)
            let contexts = [
                try TLSTests.context {
                    $0.trustRoots = .system
                    $0.additionalRoots = pem
                },
                try TLSTests.context {
                    $0.trustRoots = .pem(other)
                    $0.additionalRoots = pem
                },
                try TLSTests.context { $0.trustRoots = .pem(other + pem) },
                try TLSTests.context { $0.trustRoots = .file(path: path) },
            ]
            await withLoop { loop in
                for context in contexts {
                    let client = Client(loop)
                    #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
                    await client.close()
                }
            }
        }
    }

    @Test func optionsThatCannotBeUsed() {
        let changes: [(inout TLSOptions) -> Void] = [
            { $0.alpn = [""] },
            { $0.alpn = [String(repeating: "x", count: 256)] },
            { $0.alpn = Array(repeating: String(repeating: "x", count: 255), count: 300) },
            { $0.minimumVersion = 0x1234 },
            { ($0.minimumVersion, $0.maximumVersion) = (0x0304, 0x0303) },
            { $0.trustRoots = .file(path: "/nonexistent") },
            { $0.trustRoots = .pem([]) },
            { $0.trustRoots = .pem(Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)) },
            { $0.additionalRoots = Array("nothing".utf8) },
        ]
        for (index, change) in changes.enumerated() {
            do {
                _ = try TLSTests.context(change)
                Issue.record("case \(index) was accepted")
            } catch let error as TransportError {
                guard case .configuration = error.cause else {
                    Issue.record("case \(index): \(error)")
                    continue
                }
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test func versionsThatDoNotMeet() async throws {
        var options = TLSPeer.Options()
        options.maximumVersion = TLS1_2_VERSION
        let peer = try TLSPeer(options) { _ = try $0.readToEnd() }
        defer { peer.stop() }
        let context = try TLSTests.context { $0.minimumVersion = TLSOptions.tls13 }
        await withLoop { loop in
            let client = Client(loop)
            let error = await client.connect(peer.endpoint, tls: (context, "localhost"))
            #expect(error?.cause == .alert(TLSAlert(code: 70), .notAsked))
            #expect(error?.description.contains("protocol version") == true)
        }
    }

    private enum Plain: CaseIterable {
        case http, garbage, close, nothing
    }

    @Test(arguments: Plain.allCases)
    private func peersWithoutTLS(_ act: Plain) async throws {
        let over = Gate()
        let peer = try Peer { connection in
            _ = try connection.read()
            switch act {
            case .http: try connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            case .garbage: try connection.write([UInt8](repeating: 0xFF, count: 100))
            case .close: break
            case .nothing: over.wait()
            }
        }
        defer { peer.stop() }
        let context = try TLSTests.context()
        await withLoop { loop in
            let client = Client(loop)
            let timeout: UInt64 = act == .nothing ? 50_000_000 : 120_000_000_000
            let error = await client.connect(peer.endpoint, tls: (context, "localhost"), timeout: timeout)
            #expect(error?.phase == .tls)
            switch (act, error?.cause) {
            case (.http, .plainTextPeer), (.garbage, .handshake), (.close, .handshakeClosed), (.nothing, .timedOut):
                break
            case let (_, cause): Issue.record("\(String(describing: cause))")
            }
            over.open()
        }
    }

    @Test(arguments: ["", "nul\0name", ".example.test", "."])
    func namesThatCannotBe(name: String) async throws {
        let peer = try Peer { _ = try $0.readToEnd() }
        defer { peer.stop() }
        let context = try TLSTests.context()
        await withLoop { loop in
            let client = Client(loop)
            guard case .configuration = await client.connect(peer.endpoint, tls: (context, name))?.cause else {
                Issue.record("accepted")
                return
            }
        }
    }
}
