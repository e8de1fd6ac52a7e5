import Testing

@testable import LoadingKitProxies

/// HTTP proxies' answers to `CONNECT`, received whole and byte by byte.
@Suite struct ConnectHandshakeTests {
    private enum Ending: Equatable {
        case needsMore
        case established
        case challenged([String], keepsConnection: Bool)
        case failed(ProxyError.Cause)
    }

    /// How the handshake ends, and after how many bytes.
    private func run(_ answer: String, pieces count: Int, thenCloses: Bool) -> Ending {
        var handshake = ConnectHandshake(
            TunnelDestination(host: "h.example", port: 443), userAgent: "test", authorization: nil)
        let bytes = Array(answer.utf8)
        do throws(ProxyError.Cause) {
            let sent = try handshake.begin()
            #expect(String(decoding: sent, as: UTF8.self).hasPrefix("CONNECT h.example:443 HTTP/1.1\r\n"))
            for start in stride(from: 0, to: bytes.count, by: count) {
                let piece = Array(bytes[start..<min(start + count, bytes.count)])
                if let ending = ending(of: try take(piece, &handshake)) { return ending }
            }
        } catch {
            return .failed(error)
        }
        guard thenCloses else { return .needsMore }
        return handshake.connectionDidClose().flatMap { ending(of: $0) } ?? .failed(.closed)
    }

    private func take(
        _ piece: [UInt8], _ handshake: inout ConnectHandshake
    ) throws(ProxyError.Cause) -> TunnelStep {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
        defer { memory.deallocate() }
        memory.copyBytes(from: piece)
        return try handshake.receive(UnsafeRawBufferPointer(memory))
    }

    private func ending(of step: TunnelStep) -> Ending? {
        switch step {
        case .needsMore, .send: nil
        case .established: .established
        case .challenged(let challenge):
            .challenged(
                challenge.head?.fields.values(of: .proxyAuthenticate).map { String($0) } ?? [],
                keepsConnection: challenge.keepsConnection)
        }
    }

    @Test func whatIsSentAndWaitedFor() throws {
        let destination = TunnelDestination(host: "h", port: 1)
        var handshake = ConnectHandshake(destination, userAgent: "test", authorization: Array("Basic x".utf8))
        let sent = String(decoding: try handshake.begin(), as: UTF8.self)
        #expect(sent.contains("\r\nProxy-Authorization: Basic x\r\n"))
        #expect(handshake.awaited == "its answer to CONNECT")
        _ = try take(Array("HTTP/1.1 407 Who\r\nContent-Length: 5\r\n\r\n".utf8), &handshake)
        #expect(handshake.awaited == "the rest of its answer to CONNECT")
    }

    @Test func whatCannotBeSentOrRead() throws {
        var unusable = ConnectHandshake(
            TunnelDestination(host: "a\r\nb", port: 1), userAgent: "test", authorization: nil)
        #expect(throws: ProxyError.Cause.unusableName) { try unusable.begin() }
        guard case .failed(.malformed) = run("nonsense\r\n\r\n", pieces: 1, thenCloses: false) else {
            return _ = Issue.record("it is read")
        }
    }

    private static let asks =
        "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=r\r\nProxy-Authenticate: Digest realm=r\r\n"

    @Test func answers() {
        let both = ["Basic realm=r", "Digest realm=r"]
        let long = 64 * 1024
        let longChunks = String(repeating: "1;\(String(repeating: "x", count: 1000))\r\n.\r\n", count: 66)
        let cases: [(String, Ending, closes: Bool)] = [
            ("HTTP/1.1 200 OK\r\n\r\n", .established, false),
            ("HTTP/1.1 100 Go\r\n\r\nHTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", .established, false),
            ("\(Self.asks)Content-Length: 2\r\n\r\nno", .challenged(both, keepsConnection: true), false),
            ("\(Self.asks)Content-Length: 0\r\n\r\n", .challenged(both, keepsConnection: true), false),
            (
                "\(Self.asks)Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
                .challenged(both, keepsConnection: true), false
            ),
            (
                "\(Self.asks)Connection: close\r\nContent-Length: 2\r\n\r\nno",
                .challenged(both, keepsConnection: false),
                false
            ),
            (
                "\(Self.asks)Proxy-Connection: Close\r\nContent-Length: 2\r\n\r\nno",
                .challenged(both, keepsConnection: false),
                false
            ),
            // Bodies that are too long to read, or without an end.
            ("\(Self.asks)Content-Length: \(long + 1)\r\n\r\n", .challenged(both, keepsConnection: false), false),
            ("\(Self.asks)\r\n", .challenged(both, keepsConnection: false), false),
            (
                "\(Self.asks)Transfer-Encoding: chunked\r\n\r\nFFFFFF\r\n" + String(repeating: "x", count: long + 1),
                .challenged(both, keepsConnection: false), false
            ),
            // The framing of chunks counts, too.
            (
                "\(Self.asks)Transfer-Encoding: chunked\r\n\r\n" + longChunks,
                .challenged(both, keepsConnection: false),
                false
            ),
            (
                "\(Self.asks)Transfer-Encoding: chunked\r\n\r\n\(longChunks)0\r\n\r\n",
                .challenged(both, keepsConnection: false), false
            ),
            ("\(Self.asks)Content-Length: 9\r\n\r\nno", .challenged(both, keepsConnection: false), true),
            ("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n", .challenged([], keepsConnection: true), false),
            (Self.asks, .failed(.closed), true),
            ("", .failed(.closed), true),
            ("HTTP/1.1 502 Bad\r\n\r\n", .failed(.status(502, "Bad")), false),
            ("HTTP/1.1 200", .needsMore, false),
        ]
        for (answer, expected, closes) in cases {
            for count in [1, 7, max(1, answer.utf8.count)] where count > 1 || answer.utf8.count < 1000 {
                #expect(run(answer, pieces: count, thenCloses: closes) == expected, "\(answer.prefix(120)) by \(count)")
            }
        }
    }

    /// No bytes may follow the response that opens the tunnel, as the client sends first in it.
    @Test func whatFollows() {
        let early = "HTTP/1.1 200 OK\r\n\r\nearly"
        #expect(
            run(early, pieces: early.utf8.count, thenCloses: false) == .failed(.malformed("bytes after its answer")))
        let more = "\(Self.asks)Content-Length: 2\r\n\r\nnoHTTP"
        let expected = Ending.challenged(["Basic realm=r", "Digest realm=r"], keepsConnection: false)
        #expect(run(more, pieces: more.utf8.count, thenCloses: false) == expected)
    }
}
