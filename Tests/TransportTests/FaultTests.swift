import CLoadingKitOpenSSL
import Glibc
import LoadingKitLoopbackServer
import LoadingKitTransport
import Testing

/// Each system call fails, or is short, in turn.
@Suite struct FaultTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String { "\(name) \(occurrence) \(fault) tls: \(tls)" }
        var name: SystemCalls.Name
        var occurrence: FaultPlan.Occurrence
        var fault: FaultPlan.Fault
        var tls = false
        /// `nil`: it works all the same.
        var cause: TransportError.Cause?

        init(
            _ name: SystemCalls.Name, _ occurrence: FaultPlan.Occurrence, _ fault: FaultPlan.Fault, tls: Bool = false,
            _ cause: TransportError.Cause? = nil
        ) {
            self.name = name
            self.occurrence = occurrence
            self.fault = fault
            self.tls = tls
            self.cause = cause
        }
    }

    private static let cases: [Case] = [
        Case(.socket, .nth(1), .fail(EMFILE), .systemCall(.socket, errno: EMFILE)),
        Case(.socket, .nth(1), .fail(EINTR)),
        Case(.setsockopt, .from(1), .fail(ENOPROTOOPT)),
        Case(.connect, .nth(1), .fail(ENETUNREACH), .systemCall(.connect, errno: ENETUNREACH)),
        Case(.connect, .nth(1), .fail(ECONNREFUSED), .refused),
        Case(.connect, .nth(1), .fail(ETIMEDOUT), .timedOut),
        Case(.epollControl, .nth(1), .fail(ENOSPC), .systemCall(.epollControl, errno: ENOSPC)),
        Case(.epollWait, .nth(1), .fail(EINTR)),
        Case(.getsockopt, .nth(1), .fail(ENOBUFS), .systemCall(.connect, errno: ENOBUFS)),
        Case(.getsockname, .from(1), .fail(ENOBUFS)),
        Case(.recv, .nth(1), .fail(EINTR)),
        Case(.recv, .from(1), .short(1)),
        Case(.recv, .nth(1), .fail(ECONNRESET), .systemCall(.recv, errno: ECONNRESET)),
        Case(.recv, .nth(1), .fail(ETIMEDOUT), .systemCall(.recv, errno: ETIMEDOUT)),
        Case(.send, .nth(1), .fail(EINTR)),
        Case(.send, .from(1), .short(1)),
        Case(.send, .nth(1), .fail(EPIPE), .systemCall(.send, errno: EPIPE)),
        Case(.sendmsg, .from(1), .short(1)),
        Case(.sendmsg, .from(1), .short(7)),
        Case(.sendmsg, .nth(1), .fail(ECONNRESET), .systemCall(.sendmsg, errno: ECONNRESET)),
        Case(.recv, .nth(1), .fail(EINTR), tls: true),
        Case(.recv, .from(1), .short(1), tls: true),
        Case(.recv, .nth(1), .fail(ECONNRESET), tls: true, .systemCall(.recv, errno: ECONNRESET)),
        Case(.recv, .nth(2), .fail(ECONNRESET), tls: true, .systemCall(.recv, errno: ECONNRESET)),
        Case(.send, .from(1), .short(1), tls: true),
        Case(.send, .nth(1), .fail(EPIPE), tls: true, .systemCall(.send, errno: EPIPE)),
        Case(.send, .nth(3), .fail(ECONNRESET), tls: true, .systemCall(.send, errno: ECONNRESET)),
    ]

    @Test(arguments: cases)
    private func table(_ test: Case) async throws {
        let plan = FaultPlan(test.name, test.occurrence, test.fault)
        let plain = test.tls ? nil : try Peer { try $0.write(try $0.readToEnd()) }
        let secure =
            !test.tls
            ? nil
            : try TLSPeer { connection in
                try connection.write(try connection.readToEnd())
                connection.finishWriting()
            }
        defer {
            plain?.stop()
            secure?.stop()
        }
        let tls = test.tls ? (context: try TLSTests.context(), serverName: "localhost") : nil
        let endpoint = try #require(plain?.endpoint ?? secure?.endpoint)
        await withLoop { loop in
            loop.attach(plan)
            let client = Client(loop)
            #expect(await exchange(client, endpoint, tls) == test.cause)
            await client.close()
        }
        #expect(plan.injectedCount > 0)
    }

    /// An echo in two writes, one of them of two parts; what went wrong.
    private func exchange(
        _ client: Client, _ endpoint: Endpoint, _ tls: (context: TLSContext, serverName: String)?
    ) async -> TransportError.Cause? {
        if let error = await client.connect(endpoint, tls: tls) { return error.cause }
        switch await client.writeNow(Array("hello ".utf8), Array("world, ".utf8)) {
        case .bytes(13): break
        case .failed(let error): return error.cause
        case .bytes, .wouldBlock:
            Issue.record("a part was written")
            return nil
        }
        if let cause = await client.write("this is a test") { return cause }
        await client.finishWriting()
        switch await client.readToEnd() {
        case (let bytes, .orderly):
            #expect(String(decoding: bytes, as: UTF8.self) == "hello world, this is a test")
            return nil
        case (_, .failed(let cause)): return cause
        case (_, nil): return nil
        }
    }

    /// TLS records that are sent together arrive in order, whatever the socket takes of them.
    @Test(arguments: [1000, 20_000, Int.max])
    func recordsThatAreSentTogether(taken: Int) async throws {
        let content = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 / 251) }
        let peer = try TLSPeer { connection in
            let received = try connection.readToEnd()
            try connection.write(received == content ? "right" : "wrong")
            connection.finishWriting()
        }
        defer { peer.stop() }
        let plan = FaultPlan(.send, .from(1), .short(taken))
        try await withClient(peer, plan) { client in
            #expect(await client.write(content) == nil)
            await client.finishWriting()
            #expect(await client.readToEnd() == (Array("right".utf8), .orderly))
        }
        #expect(plan.injectedCount > 0 && peer.failures == [])
    }

    /// The handshake has two calls. Of 64 KiB the fourth one has the last records, which no later write follows.
    @Test(arguments: [(5, 1 << 20), (4, 65_536)])
    func recordsThatCannotBeSentTogether(call: Int, count: Int) async throws {
        let peer = try TLSPeer { connection in _ = try connection.readToEnd() }
        defer { peer.stop() }
        let plan = FaultPlan(.send, .nth(call), .fail(ENOBUFS))
        try await withClient(peer, plan) { client in
            let cause = await client.write([UInt8](repeating: 1, count: count))
            #expect(cause == .systemCall(.send, errno: ENOBUFS))
        }
        #expect(plan.injectedCount == 1)
    }

    /// Bytes that the socket did not take at once count as written: the owner waits for an answer, and writes no more.
    @Test(arguments: [false, true]) func keptBytesThatCannotBeSentLater(isNested: Bool) async throws {
        // A server that speaks TLS 1.3 would send tickets, whose arrival makes the client's loop send the rest, too.
        let isReady = Signal()
        let options = TLSPeer.Options(maximumVersion: TLS1_2_VERSION, isNested: isNested)
        let peer = try TLSPeer(options) { connection in
            isReady.waitBlocking()
            try connection.write("early")
            _ = try connection.readToEnd()
        }
        defer { peer.stop() }
        let plan = FaultPlan([
            FaultPlan.Entry(.send, .nth(1), .short(10)), FaultPlan.Entry(.send, .nth(2), .fail(EAGAIN)),
            FaultPlan.Entry(.send, .nth(3), .fail(ENOBUFS)),
        ])
        let context = try TLSTests.context()
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            if isNested { #expect(await client.secure(context, "localhost") == nil) }
            loop.attach(plan)
            #expect(await client.write("request") == nil)
            let end = Client.End.failed(.systemCall(.send, errno: ENOBUFS))
            #expect(await client.readWhenNotified(isReady) == (Array("early".utf8), end))
            #expect(await client.isDead)
            await client.close()
        }
        #expect(plan.injectedCount == 3)
    }

    /// The same of the handshake's bytes, which no write of the owner follows.
    @Test func keptBytesOfAHandshakeThatCannotBeSentLater() async throws {
        let peer = try Peer { connection in
            try connection.waitForBytes()
            // The first byte of a TLS record.
            try connection.write([22])
            _ = try connection.readToEnd()
        }
        defer { peer.stop() }
        let plan = FaultPlan([
            FaultPlan.Entry(.send, .nth(1), .short(10)), FaultPlan.Entry(.send, .nth(2), .fail(EAGAIN)),
            FaultPlan.Entry(.send, .nth(3), .fail(ENOBUFS)),
        ])
        let context = try TLSTests.context()
        await withLoop { loop in
            loop.attach(plan)
            let client = Client(loop)
            let error = await client.connect(peer.endpoint, tls: (context, "localhost"))
            #expect(error?.cause == .systemCall(.send, errno: ENOBUFS))
        }
        #expect(plan.injectedCount == 3)
    }

    /// No event follows a call that failed for another reason than that the socket is full.
    @Test(arguments: [false, true]) func aCallThatFailsAfterSomeBytesIsMadeAgain(isSecure: Bool) async throws {
        let plain = try Peer { try $0.write(try $0.readToEnd()) }
        let secure = try TLSPeer { connection in
            try connection.write(try connection.readToEnd())
            connection.finishWriting()
        }
        defer {
            plain.stop()
            secure.stop()
        }
        let context = try TLSTests.context()
        // The handshake has two calls.
        let first = isSecure ? 3 : 1
        let plan = FaultPlan([
            FaultPlan.Entry(.send, .nth(first), .short(10)), FaultPlan.Entry(.send, .nth(first + 1), .fail(ENOBUFS)),
        ])
        await withLoop { loop in
            loop.attach(plan)
            let client = Client(loop)
            let endpoint = isSecure ? secure.endpoint : plain.endpoint
            #expect(await client.connect(endpoint, tls: isSecure ? (context, "localhost") : nil) == nil)
            #expect(await client.write("a long request") == nil)
            await client.finishWriting()
            #expect(await client.readToEnd() == (Array("a long request".utf8), .orderly))
            await client.close()
        }
        #expect(plan.injectedCount == 2)
    }

    private func withClient(
        _ peer: TLSPeer, _ plan: FaultPlan, _ body: @Sendable (Client) async -> Void
    ) async throws {
        let context = try TLSTests.context()
        await withLoop { loop in
            loop.attach(plan)
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            await body(client)
            await client.close()
        }
    }

    @Test(arguments: [SystemCalls.Name.epollCreate, .eventfd, .epollControl])
    func aLoopWithoutDescriptorsTriesAgain(name: SystemCalls.Name) async {
        let plan = FaultPlan(name, .nth(1), .fail(EMFILE))
        let loop = plan.run { EventLoop(name: "test", idleConnections: IdleConnections(limit: 8)) }
        #expect(plan.injectedCount == 1)
        await loop.run {}
        loop.stop()
    }

    @Test func aPlanGoesAlongToTheBlockingPool() async {
        let plan = FaultPlan(.open, .nth(1), .fail(ENOSPC))
        let results = await withCheckedContinuation { continuation in
            plan.run {
                BlockingPool.shared.run {
                    continuation.resume(returning: [SystemCalls.open("/", O_RDONLY), SystemCalls.open("/", O_RDONLY)])
                }
            }
        }
        #expect(results[0] == -Int(ENOSPC) && results[1] >= 0)
        SystemCalls.close(Int32(results[1]))
        let unfaulted = SystemCalls.open("/", O_RDONLY)
        #expect(unfaulted >= 0)
        SystemCalls.close(Int32(unfaulted))
        #expect(plan.count(of: .open) == 2)
    }

    /// `sendfile(2)` has no flag that keeps it from raising the signal, which would end this process.
    @Test(arguments: [false, true]) func aFileIsSentToAClosedConnectionWithoutSIGPIPE(isBlocked: Bool) throws {
        var pair: (Int32, Int32) = (-1, -1)
        let made = withUnsafeMutableBytes(of: &pair) {
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, $0.baseAddress?.assumingMemoryBound(to: Int32.self))
        }
        let file = Int32(SystemCalls.open("/proc/self/exe", O_RDONLY))
        defer { [pair.0, file].forEach { SystemCalls.close($0) } }
        try #require(made == 0 && file >= 0)
        var (signals, before, pending) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(isBlocked ? SIG_BLOCK : SIG_UNBLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        #expect(SystemCalls.send(pair.0, fromFile: file, at: 1, 1000) == 1000)
        SystemCalls.close(pair.1)
        #expect(SystemCalls.send(pair.0, fromFile: file, at: 0, 1000) == -Int(EPIPE))
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
        pthread_sigmask(SIG_BLOCK, nil, &pending)
        #expect(sigismember(&pending, SIGPIPE) == (isBlocked ? 1 : 0))
    }
}
