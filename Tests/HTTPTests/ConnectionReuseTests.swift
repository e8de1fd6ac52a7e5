import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// A connection is reused only when nothing waits on it: bytes behind a response are not the next request's answer.
@Suite struct ConnectionReuseTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        /// The response to the first request, without what follows it.
        let response: String
        var method = "GET"
        var body = ""

        var testDescription: String { name }
    }

    static let long = String(repeating: "l", count: 100_000)

    static let cases: [Case] = [
        Case(name: "long", response: "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n\(long)", body: long),
        Case(
            name: "just long enough to be read past the codec",
            response: "HTTP/1.1 200 OK\r\nContent-Length: 69632\r\n\r\n" + long.prefix(69_632),
            body: String(long.prefix(69_632))),
        Case(name: "short", response: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nshort", body: "short"),
        Case(
            name: "as long as a read",
            response: "HTTP/1.1 200 OK\r\nContent-Length: 65496\r\n\r\n" + long.prefix(65_496),
            body: String(long.prefix(65_496))),
        Case(
            name: "chunked", response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nchunk\r\n0\r\n\r\n",
            body: "chunk"),
        Case(
            name: "long, in a chunk",
            response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n\(long)\r\n0\r\n\r\n", body: long),
        Case(name: "HEAD", response: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", method: "HEAD"),
        Case(name: "204", response: "HTTP/1.1 204 No Content\r\n\r\n"),
    ]

    static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"

    static let surpluses = [
        "another response": evil,
        "no response": "surplus",
        "a line's end": "\r\n",
    ]

    /// A session with one connection to a peer whose first connection follows a script, and whose others are honest.
    private static func make(
        first script: [ScriptedPeer.Step], isSecure: Bool, on loop: EventLoop = .next(),
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> (ScriptedPeer, URLSession) {
        let authority = try CertificateAuthority()
        let peer = try ScriptedPeer(
            scripts: [script, [.forever([.expectRequest, .respond("honest")])]],
            tls: isSecure ? TLSServerOptions(try authority.issue()) : nil)
        let session = makeSession(on: loop) {
            $0.httpMaximumConnectionsPerHost = 1
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            configure($0)
        }
        return (peer, session)
    }

    /// A server announces with 408 that it closes an idle connection, as a request is on its way (RFC 9110 §15.5.9).
    /// The request is sent again as after a close without announcement: one that is not idempotent if the session
    /// allows it.
    @Test(arguments: ["GET", "POST"], [true, false])
    func aTimeoutOfTheIdleConnectionIsNotTheAnswer(_ method: String, repeats: Bool) async throws {
        let timeout = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\nConnection: close\r\n\r\nidle"
        let (peer, session) = try Self.make(
            first: [.expectRequest, .respond("first"), .expectRequest, .send(timeout), .readUntilClose],
            isSecure: false
        ) { $0.retriesUnansweredRequests = repeats }
        defer { peer.stop() }
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .ok("first"))
            var request = peer.request(method: method)
            if method == "POST" { request.httpBody = Data("body".utf8) }
            let isRepeated = repeats || method == "GET"
            let outcome = await session.outcome(request)
            #expect(outcome == (isRepeated ? .ok("honest") : .loaded(status: 408, body: "idle")))
        }
    }

    /// On a new connection status 408 is the answer to the request.
    @Test func aTimeoutOfTheFirstRequestIsTheAnswer() async throws {
        let timeout = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\nConnection: close\r\n\r\nslow"
        let (peer, session) = try Self.make(first: [.expectRequest, .send(timeout), .readUntilClose], isSecure: false)
        defer { peer.stop() }
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .loaded(status: 408, body: "slow"))
        }
    }

    /// The two loads are begun at once, on one connection.
    @Test(arguments: cases, [false, true])
    func surplusBytesAnswerNoOtherRequest(_ test: Case, isSecure: Bool) async throws {
        for (name, surplus) in Self.surpluses {
            let bothAreThere = Signal()
            let (peer, session) = try Self.make(
                first: [.expectRequest, .waitFor(bothAreThere), .send(test.response + surplus), .readUntilClose],
                isSecure: isSecure)
            defer { peer.stop() }
            try await withTimeout {
                async let one = session.outcome(peer.request("/first", method: test.method))
                await peer.requestCount(reaches: 1)
                // Waits for the connection.
                async let two = session.outcome(peer.request("/second"))
                try await session.taskCount(reaches: 2)
                bothAreThere.fire()
                let (outcome, next) = await (one, two)
                #expect(outcome.body == test.body, "\(name)")
                #expect(next == .ok("honest"), "\(name)")
                #expect(peer.requests.snapshot.map(\.connection) == [0, 1], "\(name)")
            }
        }
    }

    /// The response's receiver is of each kind, so that each way to read a body is taken.
    @Test(arguments: Receiving.allCases, [false, true])
    func surplusBytesBehindEachKindOfTask(_ kind: Receiving, isSecure: Bool) async throws {
        let bothAreThere = Signal()
        let (peer, session) = try Self.make(
            first: [
                .expectRequest, .waitFor(bothAreThere),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n\(Self.long)\(Self.evil)"),
                .readUntilClose,
            ], isSecure: isSecure)
        defer { peer.stop() }
        try await withTimeout {
            async let one: Void = kind.load(peer.request("/first"), in: session)
            await peer.requestCount(reaches: 1)
            async let two = session.outcome(peer.request("/second"))
            try await session.taskCount(reaches: 2)
            bothAreThere.fire()
            try await one
            #expect(await two == .ok("honest"))
            #expect(peer.requests.snapshot.map(\.connection) == [0, 1])
        }
    }

    enum Receiving: CaseIterable, Sendable {
        case data, bytes, download, cancelledDownload

        func load(_ request: URLRequest, in session: URLSession) async throws {
            switch self {
            case .data: _ = try await session.data(for: request)
            case .bytes:
                var count = 0
                for try await _ in try await session.bytes(for: request).0 { count += 1 }
                #expect(count == ConnectionReuseTests.long.utf8.count)
            case .download:
                let (file, _) = try await session.download(for: request)
                try FileManager.default.removeItem(at: file)
            // The rest of its body is read and dropped, or its connection closed.
            case .cancelledDownload:
                let (bytes, _) = try await session.bytes(for: request)
                for try await _ in bytes { break }
            }
        }
    }

    /// TLS's close_notify comes with the response, and the connection stays open. A request that is not idempotent would not
    /// be sent again.
    @Test func anEndBehindTheResponse() async throws {
        let (bothAreThere, isSent) = (Signal(), Signal())
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
        let loop = EventLoop(name: "ended")
        defer { loop.stop() }
        let (peer, session) = try Self.make(
            first: [
                .expectRequest, .respond("warm"), .expectRequest, .waitFor(bothAreThere), .send(response),
                .sendCloseNotify,
                .fire(isSent), .hold,
            ], isSecure: true, on: loop)
        defer { peer.stop() }
        try await withTimeout {
            // Before its response the client has read the tickets of TLS.
            #expect(await session.outcome(peer.request()) == .ok("warm"))
            async let one = session.outcome(peer.request("/first"))
            await peer.requestCount(reaches: 2)
            // Waits for the connection.
            async let two = session.outcome(peer.request("/second", method: "POST"))
            try await session.taskCount(reaches: 2)
            // In one turn of the loop, which then reads both at once.
            loop.execute {
                bothAreThere.fire()
                isSent.waitBlocking()
                // Each of the two records has at least 22 bytes more than its content.
                peer.waitForInput(of: response.utf8.count + 2 + 2 * 22)
            }
            let (outcome, next) = await (one, two)
            #expect(outcome == .ok("first") && next == .ok("honest"))
            #expect(peer.requests.snapshot.map(\.connection) == [0, 0, 1])
        }
    }

    /// An idle connection on which bytes come is closed, though a blocked loop sends the request before it looks at its
    /// sockets again.
    @Test(arguments: [false, true]) func bytesOnAnIdleConnection(isSecure: Bool) async throws {
        let (idle, sent) = (Signal(), Signal())
        let loop = EventLoop(name: "idle")
        defer { loop.stop() }
        let (peer, session) = try Self.make(
            first: [.expectRequest, .respond("a"), .waitFor(idle), .send(Self.evil), .fire(sent), .readUntilClose],
            isSecure: isSecure, on: loop)
        defer { peer.stop() }
        try await withTimeout {
            let request = peer.request()
            #expect(await session.outcome(request) == .ok("a"))
            let outcomes = Recorder<Outcome>()
            let task = session.dataTask(with: request) { data, _, _ in
                outcomes.append(.ok(String(decoding: data ?? Data(), as: UTF8.self)))
            }
            // In one turn of the loop, which sees no event of the connection in between.
            loop.execute {
                idle.fire()
                sent.waitBlocking()
                peer.waitForInput(of: 1)
                // The loop relies on its events for a millisecond.
                usleep(2000)
                task.resume()
            }
            #expect(await outcomes.element(at: 0) == .ok("honest"))
            #expect(peer.requests.snapshot.map(\.connection) == [0, 1])
        }
    }

    /// The time that a server states in `Keep-Alive` runs while the connection is idle, and not while a body comes.
    @Test(arguments: [(1.0, 1), (4.5, 2)])
    func theTimeOfKeepAliveRunsFromTheResponsesEnd(idle: Double, connections: Int) async throws {
        let goesOn = Signal()
        let head = "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\n"
        let time = ManualTime()
        let loop = EventLoop(name: "keep-alive", time: .manual(time))
        defer { loop.stop() }
        let (peer, session) = try Self.make(
            first: [
                .expectRequest, .send(head + "a"), .waitFor(goesOn), .send("b"), .expectRequest, .respond("again"),
                .readUntilClose,
            ], isSecure: false, on: loop)
        defer { peer.stop() }
        try await withTimeout {
            let (bytes, _) = try await session.bytes(for: peer.request())
            time.advance(by: .seconds(6))
            // The loop's clock is advanced before the body ends.
            _ = await session.allTasks
            goesOn.fire()
            var count = 0
            for try await _ in bytes { count += 1 }
            #expect(count == 2)
            time.advance(by: .seconds(idle))
            #expect(await session.outcome(peer.request()) == .ok(connections == 1 ? "again" : "honest"))
            #expect(peer.connections.count == connections)
        }
    }

    /// The surplus is there before the next request is sent ahead.
    @Test func surplusBytesAnswerNothingThatIsSentAhead() async throws {
        let (isSent, goesOn) = (Signal(), Signal())
        let half = String(Self.long.prefix(4000))
        let surplus = half + Self.evil
        let loop = EventLoop(name: "ahead")
        defer { loop.stop() }
        let (peer, session) = try Self.make(
            first: ScriptedPeer.Step.prove + [
                .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n\(half)"), .waitFor(goesOn),
                .send(surplus), .fire(isSent), .readUntilClose,
            ], isSecure: false, on: loop
        ) { $0.httpShouldUsePipelining = true }
        defer { peer.stop() }
        let loads = PipelinedLoads(peer, on: session)
        try await withTimeout {
            await loads.prove()
            let (bytes, _) = try await session.bytes(for: peer.request("/first"))
            let task = session.dataTask(with: peer.request("/second")) { data, _, _ in
                loads.ended.append(("/second", .ok(String(decoding: data ?? Data(), as: UTF8.self))))
            }
            loop.execute {
                goesOn.fire()
                isSent.waitBlocking()
                peer.waitForInput(of: surplus.utf8.count)
                usleep(2000)
                task.resume()
            }
            var count = 0
            for try await _ in bytes { count += 1 }
            #expect(count == 8000)
            #expect(await loads.outcomes(1) == ["/second": .ok("honest")])
        }
    }
}

extension URLSession {
    /// Returns when so many tasks have begun to load: what they wait for, they wait for on the session's loop.
    fileprivate func taskCount(reaches count: Int) async throws {
        try await waitUntil { await allTasks.count >= count }
    }
}

extension ScriptedPeer {
    /// Blocks until a client of this process has so many bytes to read, which have been sent; for two minutes at most.
    fileprivate func waitForInput(of count: Int) {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let clients = descriptors.compactMap { Int32($0) }.filter(isClient)
        let flags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
        var bytes = [UInt8](repeating: 0, count: count)
        for _ in 0..<120_000 {
            let hasThem = clients.contains { recv($0, &bytes, count, flags) == count }
            if hasThem { return }
            usleep(1000)
        }
    }

    /// Whether a descriptor is that of a socket that is connected to this peer.
    private func isClient(_ descriptor: Int32) -> Bool {
        var (name, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        let code = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return code == 0 && name.sin_family == sa_family_t(AF_INET) && UInt16(bigEndian: name.sin_port) == address.port
    }
}

extension Outcome {
    fileprivate var body: String? {
        if case .loaded(_, let body) = self { body } else { nil }
    }
}
