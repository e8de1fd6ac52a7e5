import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The scripted peer, seen by a client that knows no HTTP.
@Suite struct ScriptedPeerTests {
    @Test func recordsRequestsWithEveryFraming() async throws {
        let cases: [(name: String, request: String, body: String)] = [
            ("none", "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", ""),
            ("length", "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "hello"),
            (
                "chunked",
                "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: v\r\n\r\n",
                "hello"
            ),
        ]
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("ok")])])
        defer { peer.stop() }
        let address = peer.address
        let texts = cases.map(\.request)
        let answers = try await withTimeout {
            try await onThread {
                let client = try LoopbackClient(address)
                return try texts.map { text in
                    try client.send(text)
                    return try client.receive(through: "ok")
                }
            }
        }
        #expect(Set(answers) == ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
        let requests = await peer.requestCount(reaches: cases.count)
        for (number, entry) in cases.enumerated() {
            #expect(requests[number].bodyText == entry.body, "\(entry.name)")
            #expect(requests[number].connection == 0, "\(entry.name)")
            #expect(requests[number][field: "host"] == "h", "\(entry.name)")
        }
        #expect(requests.map(\.target) == ["/a", "/b", "/c"])
        #expect(requests.map(\.method) == ["GET", "POST", "POST"])
    }

    @Test func endsConnectionsAsItIsTold() async throws {
        let authority = try CertificateAuthority()
        let options = TLSServerOptions(try authority.issue())
        let authorityPEM = authority.certificatePEM
        let endings: [(name: String, step: ScriptedPeer.Step, text: String?, closeNotify: Bool)] = [
            ("close", .close, "abc", true),
            ("end of the script", .send([]), "abc", true),
            ("no close_notify", .closeWithoutNotify, "abc", false),
            ("half close", .halfClose, "abc", true),
            ("reset", .reset, nil, false),
        ]
        for (name, step, text, closeNotify) in endings {
            let peer = try ScriptedPeer([.expectBytes(1), .sendByteByByte("abc"), step], tls: options)
            defer { peer.stop() }
            let address = peer.address
            let seen = try await withTimeout {
                try await onThread { () -> (text: String?, closeNotify: Bool) in
                    let client = try LoopbackClient(address, tls: try TLSClientContext(trusting: [authorityPEM]))
                    try client.send("x")
                    let text = try? client.receiveAll()
                    return (text, client.receivedCloseNotify)
                }
            }
            // A reset may overtake the bytes before it, but it is never a proper end.
            if let text { #expect(seen.text == text, "\(name)") }
            #expect(seen.closeNotify == closeNotify, "\(name)")
            let ended = await peer.endedCount(reaches: 1)
            #expect(ended.first?.ending == .scriptDone, "\(name)")
            #expect(ended.first?.receivedText == "x", "\(name)")
            #expect(ended.first?.tls?.serverName == "localhost", "\(name)")
        }
    }

    @Test func givesEachConnectionItsScriptAndRefusesOthers() async throws {
        let peer = try ScriptedPeer(scripts: [[.send("one")], [.send("two")]], further: .refuse)
        defer { peer.stop() }
        let address = peer.address
        let texts = try await withTimeout {
            try await onThread {
                [try LoopbackClient(address).receiveAll(), try LoopbackClient(address).receiveAll()]
            }
        }
        #expect(texts == ["one", "two"])
        await peer.endedCount(reaches: 2)
        try await withTimeout { try await waitUntilRefused(address) }
    }

    /// The accepting thread closes the socket right after the last connection: until then connecting may succeed.
    private func waitUntilRefused(_ address: LoopbackAddress) async throws {
        while true {
            do {
                try await onThread { try LoopbackClient(address).close() }
            } catch let error as SocketError {
                #expect(error.description.contains("refused"))
                return
            }
        }
    }

    @Test func waitsForTheTest() async throws {
        let received = Signal(), proceed = Signal()
        let peer = try ScriptedPeer([
            .expectHead, .fire(received), .waitFor(proceed), .send("go"), .hold, .expectBody, .send("done"),
        ])
        defer { peer.stop() }
        let address = peer.address
        try await withTimeout {
            let text = Task {
                try await onThread {
                    let client = try LoopbackClient(address)
                    try client.send("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")
                    return try client.receive(through: "go") + " " + client.receiveAll()
                }
            }
            await received.wait()
            #expect(peer.requests.snapshot.map(\.bodyText) == [""])
            proceed.fire()
            peer.release()
            let rest = try await text.value
            #expect(rest == "go done")
            #expect(peer.requestsWithBody.snapshot.map(\.bodyText) == ["abc"])
        }
    }

    @Test func spoilsHandshakes() async throws {
        let options = TLSServerOptions(try ServerIdentity.selfSigned())
        let scripts: [(name: String, script: [ScriptedPeer.Step])] = [
            ("plain reply", [.expectAnything, .send("HTTP/1.1 400 Bad Request\r\n\r\n")]),
            ("silence, then the end", [.expectAnything, .closeWithoutNotify]),
            ("cut off", [.beginTLS(options, answerBytes: 100), .close]),
            ("reset", [.beginTLS(options, answerBytes: 5), .reset]),
        ]
        for (name, script) in scripts {
            let peer = try ScriptedPeer(script)
            defer { peer.stop() }
            let address = peer.address
            try await withTimeout {
                await #expect(throws: (any Error).self, "\(name)") {
                    try await onThread {
                        _ = try LoopbackClient(address, tls: try TLSClientContext(trusting: []))
                    }
                }
            }
            // A ClientHello came: a handshake record.
            await peer.endedCount(reaches: 1)
            #expect(peer.connections.first?.received.first == 22, "\(name)")
        }
    }

    @Test func stopsWhateverItDoes() async throws {
        let scripts: [(name: String, script: [ScriptedPeer.Step])] = [
            ("reading", [.expectRequest]), ("holding", [.hold]), ("waiting", [.waitFor(Signal())]),
            ("writing", [.sendForever("x")]), ("watching", [.waitUntilPeerCloses]), ("draining", [.readUntilClose]),
            ("in a handshake", [.startTLS(TLSServerOptions(try ServerIdentity.selfSigned()))]),
        ]
        for (name, script) in scripts {
            let peer = try ScriptedPeer(script)
            let address = peer.address
            try await withTimeout(name) {
                let client = try await onThread { Box<UncheckedClient>(UncheckedClient(try LoopbackClient(address))) }
                await peer.connectionCount(reaches: 1)
                try await onThread { peer.stop() }
                client.value.client.close()
            }
            #expect(peer.connections.first?.ending != .open, "\(name)")
        }
    }

    private struct UncheckedClient: @unchecked Sendable {  // used by one thread after another, never by two at once
        let client: LoopbackClient
        init(_ client: LoopbackClient) { self.client = client }
    }

    @Test func noticesThatTheOtherSideCloses() async throws {
        let peer = try ScriptedPeer(scripts: [[.waitUntilPeerCloses], [.readUntilClose], [.sendForever("x")]])
        defer { peer.stop() }
        let address = peer.address
        try await withTimeout {
            try await onThread {
                for _ in 0..<3 {
                    let client = try LoopbackClient(address)
                    try client.send("unread")
                    client.close()
                }
            }
            await peer.endedCount(reaches: 3)
        }
        let endings = peer.connections.map(\.ending)
        #expect(endings[0] == .scriptDone)
        #expect(endings[1] == .scriptDone)
        #expect(endings[2] != .scriptDone)
    }
}
