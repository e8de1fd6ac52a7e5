import LoadingKitHTTP2
import TestSupport
import Testing

/// Whole conversations of a client and a server, back to back.
@Suite struct ConversationTests {
    @Test func handshake() throws {
        var settings = HTTP2Settings()
        settings.initialWindowSize = 1 << 20
        settings.maxConcurrentStreams = 7
        settings.enableConnectProtocol = true
        settings.noRFC7540Priorities = true
        var client = Peer(.client, window: 1 << 24)
        var server = Peer(.server, settings: settings)
        Peer.exchange(&client, &server)
        #expect(client.events == [.ready(settings), .settingsAcknowledged])
        var clientSettings = HTTP2Settings()
        clientSettings.enablePush = false
        #expect(server.events == [.ready(clientSettings), .settingsAcknowledged])
        #expect(client.machine.availableStreams == 7)
        #expect(server.machine.availableStreams == 0)
        #expect(server.machine.sendWindow(for: .connection) == 1 << 24)
        #expect(client.machine.receiveWindow(for: .connection) == 1 << 24)
    }

    @Test func requestAndResponse() throws {
        var client = Peer.connected(.client)
        var server = Peer.connected(.server)
        let head = HTTP2RequestHead(
            method: "POST", scheme: "https", authority: "a.test:8", path: "/p?q",
            fields: fields(("Content-Length", "5")))
        let stream = try client.machine.sendRequest(head, endStream: false, to: &client.output)
        #expect(client.sendBody([1, 2, 3, 4, 5], on: stream, endStream: true) == 5)
        server.feed(client.takeOutput())
        var received = head
        received.fields = fields(("content-length", "5"))
        #expect(server.events.first == .headers(stream: 1, .request(received), endStream: false))
        #expect(server.bodies == [1: [1, 2, 3, 4, 5]])
        try server.machine.sendResponse(103, fields(("link", "x")), on: 1, endStream: false, to: &server.output)
        try server.machine.sendResponse(200, fields(("a", "b")), on: 1, endStream: false, to: &server.output)
        #expect(server.sendBody([9, 8], on: 1, endStream: false) == 2)
        try server.machine.sendTrailers(fields(("t", "u")), on: 1, to: &server.output)
        client.feed(server.takeOutput())
        #expect(client.bodies == [1: [9, 8]])
        let others = client.events.filter { if case .data = $0 { false } else { true } }
        #expect(
            others == [
                .headers(stream: 1, .interim(status: 103, fields(("link", "x"))), endStream: false),
                .headers(stream: 1, .response(status: 200, fields(("a", "b"))), endStream: false),
                .headers(stream: 1, .trailers(fields(("t", "u"))), endStream: true),
                .streamClosed(stream: 1),
            ])
        #expect(client.machine.openStreamCount == 0)
        #expect(server.machine.openStreamCount == 0)
    }

    /// Many streams with random bodies, carried in random pieces, under random windows.
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
    func randomBodies(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var settings = HTTP2Settings()
        settings.initialWindowSize = UInt32.random(in: 100...70000, using: &random)
        settings.maxFrameSize = UInt32.random(in: 16384...40000, using: &random)
        var client = Peer(.client, settings: settings, window: Int.random(in: 0...200_000, using: &random))
        var server = Peer(.server, settings: settings, window: Int.random(in: 0...200_000, using: &random))
        var conversation = Conversation(client: client, server: server, random: random)
        try conversation.run(streams: 40)
        client = conversation.client
        server = conversation.server
        #expect(client.error == nil)
        #expect(server.error == nil)
        #expect(server.bodies == conversation.requestBodies)
        #expect(client.bodies == conversation.responseBodies)
        #expect(client.machine.openStreamCount == 0)
        #expect(server.machine.openStreamCount == 0)
    }
}
