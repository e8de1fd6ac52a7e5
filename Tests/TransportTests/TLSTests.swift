import CLoadingKitOpenSSL
import Glibc
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@Suite struct TLSTests {
    /// A context that trusts the tests' authority.
    static func context(_ change: (inout TLSOptions) -> Void = { _ in }) throws -> TLSContext {
        var options = TLSOptions()
        options.trustRoots = .pem(try TestCertificates.shared.get().authority.pem)
        change(&options)
        return try TLSContext(options)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func anExchange(version: Int32) async throws {
        let names = Guarded<[String?]>([])
        var options = TLSPeer.Options()
        options.maximumVersion = version
        let peer = try TLSPeer(options) { connection in
            names.withLock { $0.append(connection.serverName) }
            try connection.write(try connection.readToEnd())
            connection.finishWriting()
        }
        defer { peer.stop() }
        let context = try Self.context()
        try await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            #expect(await client.write("hello") == nil)
            await client.finishWriting()
            let (bytes, end) = await client.readToEnd()
            #expect(bytes == Array("hello".utf8))
            #expect(end == .orderly)
            let info = try #require(await client.info?.tls)
            #expect(Int32(info.protocolVersion) == version)
            #expect(info.cipherSuiteName.hasPrefix("TLS_") && info.cipherSuite != 0)
            #expect(info.alpn == nil && !info.wasResumed && info.certificateFailure == nil)
            let certificate = try #require(info.peerCertificates.first)
            #expect(certificate.subject == "CN=Server" && certificate.issuer == "CN=Test Authority")
            let now = Int64(time(nil))
            #expect(abs((certificate.notAfter ?? 0) - now - 86_400) < 600)
            #expect(abs((certificate.notBefore ?? 0) - now + 3600) < 600)
            let timings = try #require(await client.info?.timings)
            #expect(timings.tlsStart != nil && timings.tlsEnd != nil)
            await client.close()
        }
        #expect(peer.failures == [])
        #expect(names.withLock { $0 } == ["localhost"])
    }

    @Test func manyBytesBothWays() async throws {
        let total = 6 << 20
        let peer = try TLSPeer { connection in
            var all = 0
            while all < total { all += try connection.read().count }
            try connection.write([UInt8]((0..<total).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
            connection.finishWriting()
        }
        defer { peer.stop() }
        let context = try Self.context()
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            #expect(await client.write([UInt8](repeating: 1, count: total)) == nil)
            let (bytes, end) = await client.readToEnd()
            #expect(bytes.count == total && end == .orderly)
            #expect(bytes == (0..<total).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            await client.close()
        }
        #expect(peer.failures == [])
    }

    /// It is read with the last bytes of a row of reads, and nothing else reports it.
    @Test func aRequestForACertificateAtTheEndOfARowIsNoticed() async throws {
        let asked = Signal()
        let peer = try TLSPeer { connection in
            do {
                defer { asked.fire() }
                try connection.write([UInt8](repeating: 1, count: 100))
                try connection.requestCertificate()
            }
            _ = try connection.readToEnd()
        }
        defer { peer.stop() }
        let context = try Self.context()
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            await asked.wait()
            let (count, isAsked) = await client.readAtEndOfRow()
            #expect(count == 100)
            #expect(isAsked)
            await client.close()
        }
        #expect(peer.failures == [])
    }

    @Test func severalRecordsAreSentWithOneCall() async throws {
        let peer = try TLSPeer { _ = try $0.readToEnd() }
        defer { peer.stop() }
        let calls = FaultPlan(.send, .nth(.max), .skip)
        let context = try Self.context()
        await withLoop { loop in
            loop.attach(calls)
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            let before = calls.count(of: .send)
            guard case .bytes(let written) = await client.writeNow([UInt8](repeating: 1, count: 1 << 20)) else {
                Issue.record("nothing was written")
                return
            }
            // The first ones have two records, and where the socket takes a part, there is another call.
            #expect(calls.count(of: .send) - before <= written / 16_384 / 2)
            await client.close()
        }
    }

    @Test(arguments: [0, 1, 100, 16_384, 16_385, 100_000], [1, 16_284, 16_384, 70_000])
    func twoPartsAreWrittenInOrder(first: Int, second: Int) async throws {
        let peer = try TLSPeer { connection in
            try connection.write(try connection.readToEnd())
            connection.finishWriting()
        }
        defer { peer.stop() }
        let context = try Self.context()
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            let head = [UInt8](repeating: 1, count: first)
            let body = [UInt8](repeating: 2, count: second)
            guard case .bytes(let count) = await client.writeNow(head, body) else {
                Issue.record("nothing written")
                return
            }
            #expect(await client.write(Array((head + body)[count...])) == nil)
            await client.finishWriting()
            #expect(await client.readToEnd().0 == head + body)
            await client.close()
        }
    }

    @Test func tlsIsPutOnAConnectionThatHasNone() async throws {
        let peer = try TLSPeer(prelude: { connection in
            let asked = try connection.read(exactly: 8)
            guard asked == Array("STARTTLS".utf8) else { throw PeerError(call: "STARTTLS") }
            try connection.write("OK")
        }) { connection in
            try connection.write(try connection.readToEnd())
            connection.finishWriting()
        }
        defer { peer.stop() }
        let context = try Self.context()
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint) == nil)
            #expect(await client.write("STARTTLS") == nil)
            #expect(await client.read(2).0 == Array("OK".utf8))
            #expect(await client.secure(context, "localhost") == nil)
            #expect(await client.write("hello") == nil)
            await client.finishWriting()
            #expect(await client.readToEnd() == (Array("hello".utf8), .orderly))
            #expect(await client.info?.tls?.protocolVersion == TLSOptions.tls13)
            let timings = await client.info?.timings
            #expect(timings?.connectEnd != nil && timings?.tlsEnd != nil)
            await client.close()
        }
        #expect(peer.failures == [])
    }

    @Test func anEndWithoutClosingMessageIsTruncation() async throws {
        let peer = try TLSPeer { try $0.write("part") }
        defer { peer.stop() }
        let context = try Self.context()
        await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            let (bytes, end) = await client.readToEnd()
            #expect(bytes == Array("part".utf8))
            #expect(end == .failed(.truncated))
            await client.close()
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func sessionsAreContinued(version: Int32) async throws {
        var options = TLSPeer.Options()
        options.maximumVersion = version
        let peer = try TLSPeer(options) { connection in
            try connection.write(try connection.read())
            connection.finishWriting()
            _ = try connection.readToEnd()
        }
        defer { peer.stop() }
        let context = try Self.context()
        await withLoop { loop in
            var resumed: [Bool?] = []
            for name in ["localhost", "localhost", "localhost", "127.0.0.1"] {
                let client = Client(loop)
                #expect(await client.connect(peer.endpoint, tls: (context, name)) == nil)
                #expect(await client.write("x") == nil)
                #expect(await client.readToEnd().1 == .orderly)
                resumed.append(await client.info?.tls?.wasResumed)
                #expect(await client.info?.tls?.peerCertificates.first?.subject == "CN=Server")
                await client.close()
            }
            #expect(resumed == [false, true, true, false])
        }
    }

    @Test func applicationProtocolsAreNegotiated() async throws {
        var options = TLSPeer.Options()
        options.alpn = "h2"
        let peer = try TLSPeer(options) { _ = try $0.readToEnd() }
        defer { peer.stop() }
        let cases: [([String], String?)] = [(["h2", "http/1.1"], "h2"), (["http/1.1"], nil), ([], nil)]
        await withLoop { loop in
            for (offered, chosen) in cases {
                let client = Client(loop)
                guard let context = try? Self.context({ $0.alpn = offered }) else {
                    Issue.record("no context")
                    return
                }
                #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
                #expect(await client.info?.tls?.alpn == chosen)
                await client.close()
            }
        }
    }

    @Test func ticketsDoNotMakeAnIdleConnectionDead() async throws {
        let close = Gate()
        let closed = Gate()
        let peer = try TLSPeer { connection in
            try connection.write(try connection.read())
            close.wait()
            connection.finishWriting()
            closed.open()
            _ = try connection.readToEnd()
        }
        defer { peer.stop() }
        let context = try Self.context()
        try await withLoop { loop in
            let client = Client(loop)
            #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
            #expect(await !client.isDead)
            #expect(await client.write("x") == nil)
            #expect(await client.read(1).1 == nil)
            #expect(await !client.isDead)
            close.open()
            await closed.passed()
            try await withTimeout { try await waitUntil { await client.isDead } }
            await client.close()
        }
    }

    @Test func keysAreLoggedWhereAsked() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/keys"
            let peer = try TLSPeer { _ = try $0.readToEnd() }
            defer { peer.stop() }
            let context = try Self.context { $0.environment.keyLogFile = path }
            await withLoop { loop in
                let client = Client(loop)
                #expect(await client.connect(peer.endpoint, tls: (context, "localhost")) == nil)
                await client.close()
            }
            let file = fopen(path, "r")
            defer { fclose(file) }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = fread(&buffer, 1, buffer.count, file)
            let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
            let labels = Set(lines.compactMap { $0.split(separator: " ").first })
            #expect(labels.isSuperset(of: ["CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"]))
            #expect(lines.allSatisfy { $0.split(separator: " ").count == 3 })
        }
    }
}
