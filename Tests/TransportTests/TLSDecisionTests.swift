import LoadingKitTransport
import TestSupport
import Testing

/// Handshakes that wait for somebody's decision.
@Suite struct TLSDecisionTests {
    /// Decides when the test says so. What it is asked belongs to the loop.
    private final class Decider: TLSDecider, @unchecked Sendable {  // used on the loop, but for the recorder
        let asked = Recorder<[Certificate]>()
        var answer: ((TrustDecision) -> Void)?

        let family: TLSFamily?
        var partition: String { "" }

        init(_ family: TLSFamily? = nil) { self.family = family }

        func decide(_ trust: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
            self.answer = answer
            asked.append(trust.chain)
        }

        func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) { answer(.none) }
    }

    private func withDecider(
        isTrusted: Bool = true, timeout: UInt64 = 5_000_000_000,
        _ body: (Decider, Client, ManualTime, @escaping @Sendable () async -> TransportError?) async throws -> Void
    ) async throws {
        let peer = try TLSPeer { _ = try $0.readToEnd() }
        defer { peer.stop() }
        let roots =
            isTrusted
            ? try TestCertificates.shared.get().authority.pem : try TestCertificate("Other", isAuthority: true).pem
        let context = try TLSTests.context { $0.trustRoots = .pem(roots) }
        let time = ManualTime()
        let decider = Decider()
        try await withLoop(.manual(time)) { loop in
            let client = Client(loop)
            try await body(decider, client, time) {
                await client.connect(
                    peer.endpoint, tls: (context, "localhost"), asking: OnLoop(decider), timeout: timeout)
            }
            await client.close()
        }
    }

    @Test func decisions() async throws {
        for isTrusted in [true, false] {
            for decision in [TrustDecision.trust, .verdict, .refuse, .cancel] {
                try await withDecider(isTrusted: isTrusted) { decider, client, _, connect in
                    async let result = connect()
                    let chain = await decider.asked.element(at: 0)
                    #expect(chain?.first?.subject == "CN=Server")
                    await client.loop.run {
                        decider.answer?(decision)
                        // A second one is not heeded.
                        decider.answer?(.cancel)
                    }
                    let error = await result
                    switch decision {
                    case .refuseOther: break
                    case .trust: #expect(error == nil)
                    case .verdict: #expect((error == nil) == isTrusted)
                    case .cancel: #expect(error?.cause == .cancelled)
                    case .refuse:
                        guard case .certificate(let failure) = error?.cause else {
                            Issue.record("\(String(describing: error))")
                            return
                        }
                        #expect(failure.reason == (isTrusted ? .refused : .unknownAuthority))
                    }
                    #expect(await (client.info == nil) == (error != nil))
                    #expect(decider.asked.count == 1)
                }
            }
        }
    }

    /// The first handshake of a family is asked about; in the others the server has to show the same certificate.
    @Test func familiesAskOnce() async throws {
        let certificates = try TestCertificates.shared.get()
        let other = try TestCertificate(
            "Other", alternativeNames: "DNS:localhost", issuer: certificates.authority)
        let (peer, stranger) = (
            try TLSPeer { _ = try $0.readToEnd() },
            try TLSPeer(.init(certificate: other)) { _ = try $0.readToEnd() }
        )
        defer {
            peer.stop()
            stranger.stop()
        }
        let context = try TLSTests.context { $0.trustRoots = .pem(certificates.authority.pem) }
        await withLoop { loop in
            let decider = Decider(TLSFamily())
            for (number, server) in [peer, peer, stranger, peer].enumerated() {
                let client = Client(loop)
                async let result = client.connect(server.endpoint, tls: (context, "localhost"), asking: OnLoop(decider))
                if number == 0 {
                    await decider.asked.count(reaches: 1)
                    await client.loop.run { decider.answer?(.verdict) }
                }
                let error = await result
                #expect((error == nil) == (server === peer), "\(number): \(String(describing: error))")
                if server === stranger {
                    guard case .certificate(let failure) = error?.cause else { continue }
                    #expect(failure.reason == .refused && failure.subject == "CN=Other")
                }
                await client.close()
            }
            #expect(decider.asked.count == 1)
        }
    }

    @Test func noTimeRunsWhileSomebodyThinks() async throws {
        try await withDecider { decider, client, time, connect in
            async let result = connect()
            await decider.asked.count(reaches: 1)
            time.advance(by: .seconds(3600))
            await client.loop.run { decider.answer?(.verdict) }
            #expect(await result == nil)
        }
    }
}
