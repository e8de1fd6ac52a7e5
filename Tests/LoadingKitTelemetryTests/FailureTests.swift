#if Telemetry
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import LoadingKitTelemetry
    import TestSupport
    import Testing
    import Tracing

    @Suite(.timeLimit(.minutes(5))) struct FailureTests {
        /// The attributes of a failed load's span besides `error.type`.
        private func check(
            _ observed: Observed, _ type: String, status: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let span = try await observed.span()
            #expect(
                differences(
                    span.attributes, ["error.type": type, "http.response.status_code": status.map { "\($0)" }]) == [],
                sourceLocation: sourceLocation)
            #expect(span.status?.code == .error && span.ends == 1, sourceLocation: sourceLocation)
            #expect(span.status?.message?.contains("secret") == false, sourceLocation: sourceLocation)
            let samples = observed.metrics.samples("http.client.request.duration")
            #expect(samples.map { $0.dimensions["error.type"] } == [type], sourceLocation: sourceLocation)
            #expect(samples.allSatisfy { $0.value > 0 }, sourceLocation: sourceLocation)
            #expect(
                observed.metrics.samples("http.client.active_requests").map(\.value) == [1, -1],
                sourceLocation: sourceLocation)
        }

        @Test func aNameThatIsNotFound() async throws {
            let observed = Observed()
            defer { observed.end() }
            await #expect(throws: URLError.self) {
                try await observed.load("https://user:secret@no-such-host.invalid/?token=secret")
            }
            try await check(observed, "URLError.cannotFindHost")
            let span = try await observed.span()
            #expect(span["url.full"] == "https://REDACTED:REDACTED@no-such-host.invalid/?token=REDACTED")
            #expect(span["server.address"] == "no-such-host.invalid" && span["server.port"] == "443")
            #expect(span["network.peer.address"] == nil)
        }

        @Test func aPortAtWhichNoServerListens() async throws {
            let observed = Observed()
            defer { observed.end() }
            // The port of tcpmux; a port that was just released could be used by another test.
            await #expect(throws: URLError.self) { try await observed.load("http://127.0.0.1:1/") }
            try await check(observed, "URLError.cannotConnectToHost")
        }

        @Test func aCertificateThatIsNotTrusted() async throws {
            let authority = try CertificateAuthority()
            let server = try LoopbackServer(tls: try authority.issue()) { _ in .text("") }
            defer { server.stop() }
            let observed = Observed()
            defer { observed.end() }
            let error = await #expect(throws: URLError.self) { try await observed.load(server.url()) }
            #expect(error?.code == .serverCertificateHasUnknownRoot || error?.code == .serverCertificateUntrusted)
            let name =
                error?.code == .serverCertificateUntrusted
                ? "serverCertificateUntrusted" : "serverCertificateHasUnknownRoot"
            try await check(observed, "URLError.\(name)")
        }

        @Test func aConnectionThatIsLost() async throws {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel"
            let peer = try ScriptedPeer([.expectRequest, .send(head), .close])
            defer { peer.stop() }
            let observed = Observed()
            defer { observed.end() }
            await #expect(throws: URLError.self) { try await observed.load(peer.url()) }
            try await check(observed, "URLError.networkConnectionLost", status: 200)
        }

        @Test func aResponseThatIsNone() async throws {
            let peer = try ScriptedPeer([.expectRequest, .send("nonsense\r\n\r\n"), .close])
            defer { peer.stop() }
            let observed = Observed()
            defer { observed.end() }
            let error = await #expect(throws: URLError.self) { try await observed.load(peer.url()) }
            #expect(error?.code == .cannotParseResponse)
            try await check(observed, "URLError.cannotParseResponse")
        }

        @Test func aTimeOut() async throws {
            let peer = try ScriptedPeer([.expectRequest, .hold])
            defer { peer.stop() }
            let observed = Observed()
            defer { observed.end() }
            let error = await #expect(throws: URLError.self) {
                try await observed.load(peer.url()) { $0.timeoutInterval = 2 }
            }
            #expect(error?.code == .timedOut)
            try await check(observed, "URLError.timedOut")
        }

        @Test func aCancelledLoad() async throws {
            let peer = try ScriptedPeer([.expectRequest, .hold])
            defer { peer.stop() }
            let observed = Observed()
            defer { observed.end() }
            let load = Task { try await observed.load(peer.url()) }
            _ = await peer.receivedRequest(0)
            load.cancel()
            await #expect(throws: URLError.self) { try await load.value }
            try await check(observed, "URLError.cancelled")
        }

        @Test func aBodyThatIsLetGoOf() async throws {
            let server = try LoopbackServer { _ in
                .stream(.length(1 << 30)) { writer in
                    while true { try writer.write([UInt8](repeating: 1, count: 1 << 16)) }
                }
            }
            defer { server.stop() }
            let observed = Observed()
            defer { observed.end() }
            do {
                let (bytes, _) = try await observed.session.bytes(from: try url(server.url()))
                var iterator = bytes.makeAsyncIterator()
                #expect(try await iterator.next() == 1)
            }
            try await check(observed, "URLError.cancelled", status: 200)
        }

        @Test func aTaskThatIsCancelledWithADelegate() async throws {
            let peer = try ScriptedPeer([.expectRequest, .hold])
            defer { peer.stop() }
            let observed = Observed(delegate: SilentDelegate())
            defer { observed.end() }
            let task = observed.session.dataTask(with: try url(peer.url()))
            task.resume()
            _ = await peer.receivedRequest(0)
            task.cancel()
            try await check(observed, "URLError.cancelled")
        }
    }

    private final class SilentDelegate: NSObject, URLSessionDataDelegate {}
#endif
