import Testing

@testable import LoadingKitProxies

/// Answers of SOCKS proxies, received whole and byte by byte.
@Suite struct SOCKSHandshakeTests {
    private static let name = TunnelDestination(host: "h.example", port: 0x0102)

    private enum Ending: Equatable {
        case established
        case challenged
    }

    /// The sent bytes, and the outcome; nil if more bytes are needed.
    private struct Transcript: Equatable {
        var sent: [UInt8] = []
        var result: Result<Ending, ProxyError.Cause>?
    }

    private func run(_ handshake: some TunnelHandshake, _ pieces: [[UInt8]]) -> Transcript {
        var handshake = handshake
        var transcript = Transcript()
        do throws(ProxyError.Cause) {
            transcript.sent = try handshake.begin()
            for piece in pieces {
                switch try take(piece, &handshake) {
                case .needsMore: break
                case .send(let bytes): transcript.sent += bytes
                case .established: transcript.result = .success(.established)
                case .challenged: transcript.result = .success(.challenged)
                }
            }
        } catch {
            transcript.result = .failure(error)
        }
        return transcript
    }

    private func take(
        _ piece: [UInt8], _ handshake: inout some TunnelHandshake
    ) throws(ProxyError.Cause) -> TunnelStep {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
        defer { memory.deallocate() }
        memory.copyBytes(from: piece)
        return try handshake.receive(UnsafeRawBufferPointer(memory))
    }

    private func check(
        _ handshake: some TunnelHandshake, _ answers: [[UInt8]], sent: [UInt8],
        _ result: Result<Ending, ProxyError.Cause>?
    ) {
        let expected = Transcript(sent: sent, result: result)
        let whole = run(handshake, answers)
        #expect(whole == expected)
        let single = run(handshake, answers.flatMap { $0 }.map { [$0] })
        #expect(single == expected)
    }

    private static let greeting: [UInt8] = [5, 1, 0]
    private static let request: [UInt8] = [5, 1, 0, 3, 9] + Array("h.example".utf8) + [1, 2]

    @Test func version5() {
        let handshake = SOCKS5Handshake(Self.name, nil)
        let reply: [UInt8] = [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]
        check(handshake, [[5, 0], reply], sent: Self.greeting + Self.request, .success(.established))
        check(
            handshake, [[5, 0], [5, 0, 0, 3, 2, 0x68, 0x69, 0, 80]], sent: Self.greeting + Self.request,
            .success(.established))
        check(
            handshake, [[5, 0], [5, 0, 0, 4] + Array(repeating: 0, count: 18)], sent: Self.greeting + Self.request,
            .success(.established))
        check(handshake, [[5, 0], [5, 0, 0, 1, 127]], sent: Self.greeting + Self.request, nil)
        check(
            handshake, [[5, 0], [5, 5, 0, 1, 0, 0, 0, 0, 0, 0]], sent: Self.greeting + Self.request,
            .failure(.refused("connection refused: nothing listens there")))
        check(
            handshake, [[5, 0], [5, 0, 0, 9, 0]], sent: Self.greeting + Self.request,
            .failure(.malformed("an address of an unknown kind")))
        let texts = [
            "it failed", "its rules do not allow it", "the network cannot be reached",
            "the host cannot be reached, or has no address", "connection refused: nothing listens there",
            "the time to live expired", "it does not know the command", "it does not know this kind of address",
            "it answered 9",
        ]
        for (index, text) in texts.enumerated() {
            let reply: [UInt8] = [5, UInt8(index + 1), 0, 1, 0]
            check(handshake, [[5, 0], reply], sent: Self.greeting + Self.request, .failure(.refused(text)))
        }
        check(
            handshake, [[5, 0], [4, 0, 0, 1, 0]], sent: Self.greeting + Self.request,
            .failure(.malformed("its reply is not SOCKS 5")))
        check(
            handshake, [[5, 0], reply + [1]], sent: Self.greeting + Self.request,
            .failure(.malformed("bytes after its reply")))
        let isError = if case nil = handshake.connectionDidClose() { true } else { false }
        #expect(isError)
        check(handshake, [[5, 0xFF]], sent: Self.greeting, .success(.challenged))
        check(handshake, [[5, 2]], sent: Self.greeting, .failure(.malformed("a method that was not offered")))
        check(handshake, [[4, 0]], sent: Self.greeting, .failure(.malformed("it does not speak SOCKS 5")))
    }

    @Test func version5WithAPassword() {
        let handshake = SOCKS5Handshake(Self.name, Proxy.Credential(user: "me", password: "pw"))
        let sent: [UInt8] = [5, 2, 0, 2, 1, 2, 0x6D, 0x65, 2, 0x70, 0x77]
        let reply: [UInt8] = [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]
        check(handshake, [[5, 2], [1, 0], reply], sent: sent + Self.request, .success(.established))
        check(handshake, [[5, 2], [1, 1]], sent: sent, .success(.challenged))
        check(handshake, [[5, 0xFF]], sent: [5, 2, 0, 2], .failure(.authentication))
        let long = Proxy.Credential(user: String(repeating: "x", count: 256), password: "")
        check(SOCKS5Handshake(Self.name, long), [[5, 2]], sent: [5, 2, 0, 2], .failure(.authentication))
    }

    @Test func version4() {
        let named = SOCKS4Handshake(Self.name, Proxy.Credential(user: "me", password: ""))
        let start: [UInt8] = [4, 1, 1, 2, 0, 0, 0, 1, 0x6D, 0x65, 0]
        let sent = start + Array("h.example".utf8) + [0]
        check(named, [[0, 90, 0, 0, 0, 0, 0, 0]], sent: sent, .success(.established))
        check(named, [[0, 91, 0, 0, 0, 0, 0, 0]], sent: sent, .failure(.refused("it refused, or failed")))
        for code: UInt8 in [92, 93] {
            check(named, [[0, code, 0, 0, 0, 0, 0, 0]], sent: sent, .failure(.authentication))
        }
        check(named, [[0, 7, 0, 0, 0, 0, 0, 0]], sent: sent, .failure(.refused("it answered 7")))
        #expect(run(named, [[0, 90, 0, 0, 0, 0, 0, 0, 1]]).result == .failure(.malformed("bytes after its reply")))
        let zero = SOCKS4Handshake(Self.name, Proxy.Credential(user: "m\0e", password: ""))
        #expect(run(zero, []).result == .failure(.authentication))
        check(named, [[1, 90, 0, 0, 0, 0, 0, 0]], sent: sent, .failure(.malformed("its reply is not SOCKS 4")))
        check(named, [[0, 90, 0]], sent: sent, nil)
        let addressed = SOCKS4Handshake(TunnelDestination(host: "10.0.0.1", port: 80), nil)
        check(addressed, [], sent: [4, 1, 0, 80, 10, 0, 0, 1, 0], nil)
    }

    @Test func namesThatCannotBeTold() {
        for host in ["", String(repeating: "x", count: 256), "a\0b"] {
            let destination = TunnelDestination(host: host, port: 1)
            let five = run(SOCKS5Handshake(destination, nil), [[5, 0]])
            #expect(five.result == .failure(.unusableName))
            let four = run(SOCKS4Handshake(destination, nil), [])
            #expect(four.result == .failure(.unusableName))
        }
    }

    /// The message of a timeout names the message that the proxy did not send.
    @Test func whatIsWaitedFor() throws {
        var five = SOCKS5Handshake(Self.name, Proxy.Credential(user: "me", password: "pw"))
        _ = try five.begin()
        var texts = [five.awaited]
        for byte: UInt8 in [5, 2, 1, 0, 5, 0] {
            _ = try take([byte], &five)
            texts.append(five.awaited)
        }
        #expect(
            texts == [
                "its choice of a SOCKS method", "the rest of its choice of a SOCKS method (bytes so far: 1)",
                "its answer to the user and the password",
                "the rest of its answer to the user and the password (bytes so far: 1)",
                "its SOCKS reply", "the rest of its SOCKS reply (bytes so far: 1)",
                "the rest of its SOCKS reply (bytes so far: 2)",
            ])
        var four = SOCKS4Handshake(Self.name, nil)
        _ = try four.begin()
        #expect(four.awaited == "its SOCKS reply")
        _ = try take([0, 90, 0], &four)
        #expect(four.awaited == "the rest of its SOCKS reply (bytes so far: 3)")
    }
}
