import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// Responses that leave the connection to the program: 101 (Switching Protocols), and 2xx to `CONNECT`.
@Suite(.timeLimit(.minutes(5))) struct TakenConnectionTests {
    private static let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n"

    private static func request(_ peer: ScriptedPeer, host: String? = nil, connection: String? = nil) throws
        -> URLRequest
    {
        var request = URLRequest(url: try #require(URL(string: peer.url("/chat", host: host))))
        request.setValue("echo", forHTTPHeaderField: "Upgrade")
        request.setValue(connection, forHTTPHeaderField: "Connection")
        return request
    }

    private static func become(
        _ session: URLSession, _ recorder: StreamingRecorder, _ request: URLRequest
    ) async throws -> URLSessionStreamTask {
        session.dataTask(with: request).resume()
        return try #require(await recorder.streamTasks.element(at: 0))
    }

    @Test func bytesGoBothWays() async throws {
        let authority = try CertificateAuthority()
        for tls in [nil, TLSServerOptions(try authority.issue())] {
            let peer = try ScriptedPeer(
                scripts: [
                    [
                        .expectRequest, .send(Self.switching + "early"), .expectBytes(4), .send([0, 13, 10, 255]),
                        .close,
                    ], [.expectRequest, .respond("another")],
                ], tls: tls)
            defer { peer.stop() }
            try await withTimeout {
                let recorder = StreamingRecorder()
                let session = makeSession(delegate: recorder) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
                defer { session.invalidateAndCancel() }
                let request = try Self.request(peer, host: "localhost")
                let task = try await Self.become(session, recorder, request)
                #expect((task.response as? HTTPURLResponse)?.statusCode == 101)
                let early = try await task.readData(ofMinLength: 5, maxLength: 100, timeout: 0)
                #expect(early.0 == Data("early".utf8) && !early.1)
                try await task.write(Data([1, 2, 3, 4]), timeout: 0)
                let last = try await task.readData(ofMinLength: 100, maxLength: 100, timeout: 0)
                #expect(last.0 == Data([0, 13, 10, 255]) && last.1)
                task.closeWrite()
                let events = await recorder.all()
                #expect(
                    events == [
                        "response", "become stream true", "read closed", "write closed", "metrics", "complete ok",
                    ])
                #expect(task.countOfBytesReceived == 9 && task.countOfBytesSent == 4)
                let transaction = try #require(recorder.metrics.snapshot.first?.transactionMetrics.first)
                #expect(transaction.networkProtocolName == "http/1.1" && transaction.responseEndDate != nil)
                let sent = try #require(await peer.receivedRequest(0))
                #expect(sent[field: "Upgrade"] == "echo" && sent[field: "Connection"] == "Upgrade")
                // The connection is not used again.
                var other = request
                other.setValue(nil, forHTTPHeaderField: "Upgrade")
                #expect(await session.outcome(other) == .ok("another"))
                #expect(peer.connections.count == 2)
            }
        }
    }

    /// The callers' options are kept where `upgrade` is one of them.
    @Test func theFieldsOfTheRequest() async throws {
        for (connection, sent) in [("", "Upgrade"), ("X-Other", "Upgrade"), ("upgrade, X-Other", "upgrade, X-Other")] {
            let peer = try ScriptedPeer([.expectRequest, .respond("no")])
            defer { peer.stop() }
            try await withTimeout {
                let session = makeSession { $0.assumesCleartextHTTP2 = true }
                defer { session.invalidateAndCancel() }
                // Whom it was sent to may go on in HTTP/1.1.
                let outcome = await session.outcome(try Self.request(peer, connection: connection))
                #expect(outcome == .ok("no"))
                #expect(await peer.receivedRequest(0)?[field: "Connection"] == sent)
            }
        }
    }

    @Test func tlsCanBePutOnIt() async throws {
        let authority = try CertificateAuthority()
        let options = TLSServerOptions(try authority.issue())
        for early in ["", "injected"] {
            let peer = try ScriptedPeer([
                .expectRequest, .send(Self.switching + early), .startTLS(options), .expectBytes(4), .send("safe"),
                .hold,
            ])
            defer { peer.stop() }
            try await withTimeout {
                let recorder = StreamingRecorder()
                let session = makeSession(delegate: recorder) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
                defer { session.invalidateAndCancel() }
                let task = try await Self.become(session, recorder, Self.request(peer, host: "localhost"))
                task.startSecureConnection()
                guard early.isEmpty else {
                    // Bytes that came before TLS are not taken for bytes under TLS.
                    #expect(await recorder.all().last == "complete -1200")
                    #expect(task.error?.localizedDescription.hasPrefix("8 bytes received without TLS") == true)
                    return
                }
                async let written: Void = task.write(Data("ping".utf8), timeout: 0)
                let (data, _) = try await task.readData(ofMinLength: 4, maxLength: 4, timeout: 0)
                try await written
                #expect(data == Data("safe".utf8))
                task.startSecureConnection()
                #expect(await recorder.all().last == "complete -1200")
                #expect(task.error?.localizedDescription == "the connection already uses TLS")
            }
        }
    }

    /// The time for the whole task has begun with the data task.
    @Test func theTimeOfTheDataTaskGoesOn() async throws {
        let go = Signal()
        let peer = try ScriptedPeer([.expectRequest, .waitFor(go), .send(Self.switching), .hold])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        try await withTimeout {
            let recorder = StreamingRecorder()
            let session = makeSession(delegate: recorder, on: loop) { $0.timeoutIntervalForResource = 100 }
            defer { session.invalidateAndCancel() }
            session.dataTask(with: try Self.request(peer)).resume()
            _ = await peer.receivedRequest(0)
            time.advance(by: .seconds(90))
            go.fire()
            _ = try #require(await recorder.streamTasks.element(at: 0))
            time.advance(by: .seconds(10))
            #expect(await recorder.all().last == "complete \(URLError.timedOut.rawValue)")
        }
    }

    /// The load that has given its connection away holds neither itself nor the session.
    @Test func aTakenConnectionHoldsNoSession() async throws {
        final class WeakSession: @unchecked Sendable {  // only read
            private weak var session: URLSession?
            init(_ session: URLSession) { self.session = session }
            var isThere: Bool { session != nil }
        }
        let peer = try ScriptedPeer([.expectRequest, .send(Self.switching), .expectBytes(1), .close])
        defer { peer.stop() }
        let use = { @Sendable () async throws -> WeakSession in
            let recorder = StreamingRecorder()
            let session = makeSession(delegate: recorder)
            let task = try await Self.become(session, recorder, Self.request(peer))
            try await task.write(Data([1]), timeout: 0)
            #expect(try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0).1)
            task.closeWrite()
            #expect(await recorder.all().last == "complete ok")
            return WeakSession(session)
        }
        try await withTimeout {
            let session = try await use()
            try await waitUntil { !session.isThere }
        }
    }

    /// Nobody takes the connection: the response has no body, and the connection is closed.
    @Test func nobodyTakesIt() async throws {
        let peer = try ScriptedPeer([.expectRequest, .send(Self.switching + "ignored"), .readUntilClose])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = StreamingRecorder(.allow)
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            session.dataTask(with: try Self.request(peer)).resume()
            #expect(await recorder.all() == ["response", "metrics", "complete ok"])
            let outcome = await session.outcome(try Self.request(peer))
            #expect(outcome == .loaded(status: 101, body: ""))
            await peer.endedCount(reaches: 2)
        }
    }

    /// RFC 9110 §7.8: a server must not switch to what it was not asked for.
    @Test func aSwitchThatNobodyAskedForIsAnError() async throws {
        let peer = try ScriptedPeer([.expectRequest, .send(Self.switching + "rest"), .readUntilClose])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession()
            #expect(await session.outcome(peer.request()) == .failed(.badServerResponse))
            await peer.endedCount(reaches: 1)
        }
    }

    /// The rest of the request would be taken for the other protocol.
    @Test func aSwitchBeforeTheRequestIsSentIsAnError() async throws {
        let peer = try ScriptedPeer([.expectHead, .send(Self.switching), .hold])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = StreamingRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            var request = try Self.request(peer)
            request.httpMethod = "PUT"
            session.uploadTask(with: request, from: Data(count: 32 << 20)).resume()
            let events = await recorder.all()
            #expect(events.filter { !$0.hasPrefix("sent") } == ["response", "metrics", "complete -1011"])
        }
    }

    /// A proxy that is spoken to as a server: what `Host` names is what it connects to (RFC 9112 §3.2.3).
    @Test func connect() async throws {
        let peer = try ScriptedPeer(
            scripts: [
                [
                    .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), .expectBytes(3),
                    .send("bye"), .close,
                ], [.expectRequest, .send("HTTP/1.1 403 No\r\nContent-Length: 3\r\n\r\nno!"), .hold],
            ])
        defer { peer.stop() }
        try await withTimeout {
            for (number, host) in ["far.example:7", nil].enumerated() {
                let recorder = StreamingRecorder()
                let session = makeSession(delegate: recorder)
                defer { session.invalidateAndCancel() }
                var request = peer.request("/ignored", method: "CONNECT")
                request.setValue(host, forHTTPHeaderField: "Host")
                let task = try await Self.become(session, recorder, request)
                let sent = try #require(await peer.receivedRequest(number))
                #expect(sent.target == host ?? "127.0.0.1:\(peer.address.port ?? 0)")
                if host == nil {
                    // A refusal has a body like any other.
                    let (data, isAtEnd) = try await task.readData(ofMinLength: 10, maxLength: 10, timeout: 0)
                    #expect(data == Data("no!".utf8) && isAtEnd)
                    return
                }
                let (data, _) = try await task.readData(ofMinLength: 5, maxLength: 5, timeout: 0)
                #expect(data == Data("hello".utf8))
                try await task.write(Data("end".utf8), timeout: 0)
                let (last, isAtEnd) = try await task.readData(ofMinLength: 10, maxLength: 10, timeout: 0)
                #expect(last == Data("bye".utf8) && isAtEnd)
                task.cancel()
            }
        }
    }

    /// TLS through a tunnel is with whom that leads to, not with whom it goes through.
    @Test func tlsThroughATunnel() async throws {
        let authority = try CertificateAuthority()
        let far = TLSServerOptions(try authority.issue(.init(dnsNames: ["far.example"], ipAddresses: [])))
        let near = TLSServerOptions(try authority.issue())
        for (options, isRight) in [(far, true), (near, false)] {
            let peer = try ScriptedPeer([
                .expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(options), .expectBytes(4), .send("safe"),
                .hold,
            ])
            defer { peer.stop() }
            try await withTimeout {
                let recorder = StreamingRecorder()
                let session = makeSession(delegate: recorder) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
                defer { session.invalidateAndCancel() }
                var request = peer.request("/ignored", method: "CONNECT")
                request.setValue("far.example:443", forHTTPHeaderField: "Host")
                let task = try await Self.become(session, recorder, request)
                task.startSecureConnection()
                guard isRight else {
                    let error = await #expect(throws: URLError.self) {
                        try await task.readData(ofMinLength: 4, maxLength: 4, timeout: 0)
                    }
                    #expect(error?.code == .serverCertificateUntrusted)
                    return
                }
                async let written: Void = task.write(Data("ping".utf8), timeout: 0)
                let (data, _) = try await task.readData(ofMinLength: 4, maxLength: 4, timeout: 0)
                try await written
                #expect(data == Data("safe".utf8))
                task.cancel()
            }
        }
    }
}
