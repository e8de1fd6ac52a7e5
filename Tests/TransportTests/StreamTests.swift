import Glibc
import LoadingKitTransport
import TestSupport
import Testing

@Suite struct StreamTests {
    private func echo(_ connection: PeerConnection) throws { try connection.write(try connection.readToEnd()) }

    private func exchange(_ address: Peer.Address) async throws {
        let peer = try Peer(address, echo)
        defer { peer.stop() }
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            #expect(await client.write("hello ") == nil)
            #expect(await client.write("world") == nil)
            await client.finishWriting()
            let (bytes, end) = await client.readToEnd()
            #expect(String(decoding: bytes, as: UTF8.self) == "hello world")
            #expect(end == .orderly)
            await client.close()
        }
        #expect(peer.failures == [])
    }

    @Test func echoOverIPv4() async throws { try await exchange(.v4) }
    @Test func echoOverIPv6() async throws { try await exchange(.v6) }
    @Test func echoOverUnixSocket() async throws {
        try await withTemporaryFolder { try await exchange(.unix($0 + "/socket")) }
    }

    @Test func informationAboutTheConnection() async throws {
        let peer = try Peer { _ = try $0.readToEnd() }
        defer { peer.stop() }
        try await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(.tcp(host: "localhost", port: peer.port)) == nil)
            let info = try #require(await client.info)
            #expect(info.remote == .ip(.loopback4, port: peer.port))
            #expect(info.remote.address == "127.0.0.1" && info.local.address == "127.0.0.1")
            #expect(info.local.port != nil && info.local.port != peer.port)
            #expect(info.tls == nil)
            let timings = info.timings
            let order = [timings.resolveStart, timings.resolveEnd, timings.connectStart, timings.connectEnd]
            #expect(order.compactMap { $0 } == order.compactMap { $0 }.sorted() && !order.contains(nil))
            #expect(timings.tlsStart == nil)
            await client.close()
        }
    }

    /// A peer that does not read leaves bytes in the socket's buffer. Its answer acknowledges all.
    @Test func bytesThatThePeerHasNotAcknowledged() async throws {
        let mayRead = Gate()
        let peer = try Peer { connection in
            mayRead.wait()
            _ = try connection.readToEnd()
            try connection.write("all")
        }
        defer { peer.stop() }
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            #expect(await client.unacknowledgedBytes == 0)
            while case .bytes = await client.writeNow(Array(repeating: 0, count: 1 << 20)) {}
            #expect(await client.unacknowledgedBytes > 0)
            mayRead.open()
            await client.finishWriting()
            #expect(await client.readToEnd() == (Array("all".utf8), .orderly))
            #expect(await client.unacknowledgedBytes == 0)
            await client.close()
            #expect(await client.unacknowledgedBytes == -1)
        }
        #expect(peer.failures == [])
    }

    /// The event for the last bytes is still to come when a write fails in the same turn of the loop.
    @Test func theLastBytesCanBeReadAfterAFailedWrite() async throws {
        let (isConnected, hasEnded) = (Gate(), Semaphore())
        let peer = try Peer { connection in
            isConnected.wait()
            try connection.write("reason")
            connection.close()
            hasEnded.signal()
        }
        defer { peer.stop() }
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            let read = await client.readAfterFailedWrite {
                isConnected.open()
                #expect(hasEnded.wait(seconds: 120))
            }
            #expect(read == Array("reason".utf8))
            await client.close()
        }
    }

    @Test func writesStopWhenThePeerDoesNotRead() async throws {
        let gate = Gate()
        let total = 32 << 20
        let peer = try Peer { connection in
            gate.wait()
            let all = try connection.readToEnd()
            try connection.write("\(all.count)")
        }
        defer { peer.stop() }
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            let block = [UInt8](repeating: 7, count: 1 << 20)
            var sent = 0
            loop: while true {
                switch await client.writeNow(block) {
                case .bytes(let count): sent += count
                case .wouldBlock: break loop
                case .failed(let error):
                    Issue.record(error)
                    break loop
                }
            }
            #expect(sent < total)
            gate.open()
            #expect(await client.write([UInt8](repeating: 7, count: total - sent)) == nil)
            await client.finishWriting()
            let (bytes, end) = await client.readToEnd()
            #expect(String(decoding: bytes, as: UTF8.self) == "\(total)")
            #expect(end == .orderly)
            await client.close()
        }
    }

    enum WayOfWriting: CaseIterable {
        case bytes, twoParts, file, records
    }

    /// A peer that takes bytes as fast as they are written does not keep the loop from its sockets and timers.
    @Test(arguments: WayOfWriting.allCases) func writesInARowAreLimited(way: WayOfWriting) async throws {
        let total = 5 * ByteStream.bytesInARow + 1000
        let plain = try Peer { _ = try $0.readToEnd() }
        let secure = try TLSPeer { _ = try $0.readToEnd() }
        defer {
            plain.stop()
            secure.stop()
        }
        let tls = way == .records ? (context: try TLSTests.context(), serverName: "localhost") : nil
        // The socket takes everything at once.
        let plan = FaultPlan([
            FaultPlan.Entry(.send, .from(1), .skip), FaultPlan.Entry(.sendmsg, .from(1), .skip),
            FaultPlan.Entry(.sendfile, .from(1), .skip),
        ])
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(way == .records ? secure.endpoint : plain.endpoint, tls: tls) == nil)
            loop.attach(plan)
            let rows = await client.writeInRows(total, way)
            #expect(rows.map(\.bytes).reduce(0, +) == total && rows.count == 6, "\(rows)")
            #expect(rows.allSatisfy { $0.bytes <= ByteStream.bytesInARow }, "\(rows)")
            #expect(Set(rows.map(\.turn)).count == rows.count, "each in a turn of its own: \(rows)")
            await client.close()
        }
        #expect(plan.injectedCount > 0)
    }

    @Test func readsStopWhenTheOwnerDoesNotRead() async throws {
        let total = 8 << 20
        let peer = try Peer { try $0.write([UInt8](repeating: 9, count: total)) }
        defer { peer.stop() }
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            var all = 0
            // One small read a wake-up at first: what is left raises no event, and is there for the next read.
            for _ in 0..<100 {
                let (bytes, end) = await client.read(1000)
                #expect(end == nil)
                all += bytes.count
            }
            let (rest, end) = await client.readToEnd()
            #expect(all + rest.count == total)
            #expect(end == .orderly)
            await client.close()
        }
    }

    @Test func twoPartsAreWrittenInOrder() async throws {
        let peer = try Peer { try $0.write(try $0.readToEnd()) }
        defer { peer.stop() }
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            guard case .bytes(11) = await client.writeNow(Array("hello ".utf8), Array("world".utf8)) else {
                Issue.record("not written")
                return
            }
            await client.finishWriting()
            #expect(await client.readToEnd().0 == Array("hello world".utf8))
            await client.close()
        }
    }

    @Test func aResetIsAFailureAndNotAnEnd() async throws {
        let peer = try Peer { connection in
            try connection.write("part")
            _ = try connection.read(exactly: 1)
            connection.resetOnClose()
        }
        defer { peer.stop() }
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            #expect(await client.read(4).0 == Array("part".utf8))
            #expect(await client.write("x") == nil)
            #expect(await client.readToEnd().1 == .failed(.systemCall(.recv, errno: ECONNRESET)))
            await client.close()
        }
    }

    @Test func inputThatCameBeforeTheHandlerIsTold() async throws {
        let written = Gate()
        let peer = try Peer { connection in
            try connection.write("early")
            written.open()
            _ = try connection.readToEnd()
        }
        defer { peer.stop() }
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            await written.passed()
            #expect(await client.read(5).0 == Array("early".utf8))
            await client.close()
        }
    }

    private enum PeerAct: CaseIterable {
        case nothing, close, reset, unasked
    }

    @Test(arguments: PeerAct.allCases)
    private func deadConnectionsAreSeen(act: PeerAct) async throws {
        let acted = Gate()
        let over = Gate()
        let peer = try Peer { connection in
            try connection.write("x")
            _ = try connection.read(exactly: 1)
            switch act {
            case .nothing: break
            case .close: connection.finishWriting()
            case .reset:
                connection.resetOnClose()
                connection.close()
            case .unasked: try connection.write("408")
            }
            acted.open()
            if act != .reset { over.wait() }
        }
        defer { peer.stop() }
        try await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            #expect(await client.read(1).1 == nil)
            #expect(await !client.isDead)
            #expect(await client.write("y") == nil)
            await acted.passed()
            // What the peer has done is soon here.
            if act == .nothing {
                #expect(await !client.isDead)
            } else {
                try await withTimeout { try await waitUntil { await client.isDead } }
            }
            await client.close()
            #expect(await client.isDead)
            over.open()
        }
    }

    /// The loop has just asked the system for events: a second question would tell nothing new.
    @Test func aQuietStreamIsKnownWithoutASystemCall() async throws {
        let over = Gate()
        let peer = try Peer { connection in
            try connection.write("x")
            _ = try connection.read(exactly: 1)
            try connection.write("unasked")
            over.wait()
        }
        defer { peer.stop() }
        try await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            #expect(await client.read(1).1 == nil)
            let calls = FaultPlan([])
            loop.attach(calls)
            #expect(await !client.isDead)
            let first = calls.count(of: .recv)
            for _ in 0..<10 { #expect(await !client.isDead) }
            #expect(calls.count(of: .recv) == first)
            #expect(await client.write("y") == nil)
            try await withTimeout { try await waitUntil { await client.isDead } }
            #expect(calls.count(of: .recv) > first)
            over.open()
            await client.close()
        }
    }

    @Test func afterCloseNothingIsHeardAndNothingTraps() async throws {
        let peer = try Peer { try $0.write(try $0.readToEnd()) }
        defer { peer.stop() }
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            #expect(await client.useAfterClose() == ["empty read", "failed read", "failed write", "closed", "dead"])
        }
    }
}

/// Counts a loop's turns. Confined to it.
private final class TurnCount {
    private let loop: EventLoop
    private(set) var count = 0
    var isOver = false

    init(_ loop: EventLoop) { self.loop = loop }

    func turnDidEnd() {
        count += 1
        if !isOver { loop.executeAtEndOfTurn { self.turnDidEnd() } }
    }
}

extension Client {
    /// Writes until all is taken. Returns the number of bytes of each row, which ends when no more are taken, and the
    /// turn of the loop in which it began.
    fileprivate func writeInRows(
        _ total: Int, _ way: StreamTests.WayOfWriting
    ) async -> [(bytes: Int, turn: Int)] {
        let content = [UInt8](repeating: 7, count: total)
        let turns = TurnCount(loop)
        turns.turnDidEnd()
        defer { turns.isOver = true }
        var (rows, left) = ([(bytes: 0, turn: turns.count)], total)
        while left > 0, let stream {
            let result: ByteStream.WriteResult = content.withUnsafeBytes { content in
                let rest = UnsafeRawBufferPointer(rebasing: content.suffix(left))
                return switch way {
                case .bytes, .records: stream.write(rest)
                case .twoParts:
                    stream.write(
                        UnsafeRawBufferPointer(rebasing: rest.prefix(10)),
                        UnsafeRawBufferPointer(rebasing: rest.dropFirst(10)))
                case .file: stream.write(fromFile: -1, at: 0, left)
                }
            }
            switch result {
            case .bytes(let count):
                rows[rows.count - 1].bytes += count
                left -= count
            case .wouldBlock:
                await waitUntilWritable()
                rows.append((bytes: 0, turn: turns.count))
            case .failed(let error):
                Issue.record(error)
                return rows
            }
        }
        return rows
    }

    /// What the stream says of each use after it was closed.
    fileprivate func useAfterClose() -> [String] {
        guard let stream else { return [] }
        stream.close()
        stream.close()
        stream.finishWriting()
        var found: [String] = []
        let nothing = UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<0])
        if case .bytes(0) = stream.read(into: nothing) { found.append("empty read") }
        if case .failed = stream.read(into: loop.scratch) { found.append("failed read") }
        if case .failed = stream.write(UnsafeRawBufferPointer(loop.scratch)) { found.append("failed write") }
        if stream.isClosed { found.append("closed") }
        if stream.isDead { found.append("dead") }
        return found
    }
}
