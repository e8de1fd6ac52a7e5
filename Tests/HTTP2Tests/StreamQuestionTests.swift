import LoadingKitHTTP2
import LoadingKitPrimitives
import Testing

/// What a connection says of its streams, and what it does with streams that it does not have.
@Suite struct StreamQuestionTests {
    @Test func windowsAndStatesOfAStream() throws {
        var client = Peer.connected(.client)
        var server = Peer.connected(.server)
        let stream = try client.request()
        #expect(client.machine.isReceiving(on: stream) && client.machine.isOpen(stream))
        #expect(client.machine.receiveWindow(for: stream) == 65535)
        server.feed(client.takeOutput())
        try server.machine.sendResponse(200, fields(("a", "b")), on: 1, endStream: false, to: &server.output)
        #expect(server.sendBody([1, 2, 3], on: 1, endStream: true) == 3)
        client.consumes = false
        client.feed(server.takeOutput())
        #expect(!client.machine.isReceiving(on: stream) && !client.machine.isOpen(stream))
        #expect(client.machine.receiveWindow(for: stream) == 0 && client.machine.sendWindow(for: stream) == 0)
    }

    @Test func answersWaitUntilTheyAreTaken() {
        var client = Peer.connected(.client)
        #expect(!client.machine.hasControlBytes)
        client.feed(Bytes.frame(type: 6, stream: 0, Array(1...8)))
        #expect(client.machine.hasControlBytes)
        #expect(client.takeOutput() == Bytes.frame(type: 6, flags: 1, stream: 0, Array(1...8)))
        #expect(!client.machine.hasControlBytes)
    }

    @Test func aStreamThatIsNotThereIsNotReset() {
        var client = Peer.connected(.client)
        client.machine.sendReset(7, .cancel, to: &client.output)
        #expect(client.takeOutput().isEmpty)
    }

    @Test func aResponseThatHasEndedHasNoHead() throws {
        var client = Peer.connected(.client)
        var server = Peer.connected(.server)
        _ = try client.request("POST", endStream: false)
        server.feed(client.takeOutput())
        try server.machine.sendResponse(200, HTTPFields(), on: 1, endStream: true, to: &server.output)
        #expect(throws: HTTP2Error(.sendClosed, .call)) {
            try server.machine.sendResponse(200, HTTPFields(), on: 1, endStream: true, to: &server.output)
        }
    }

    /// RFC 9113 §8.5: the request names an authority alone.
    @Test func aTunnelIsRequested() throws {
        var client = Peer.connected(.client)
        var server = Peer.connected(.server)
        let head = HTTP2RequestHead(method: "CONNECT", scheme: nil, authority: "a.test:1", path: nil)
        _ = try client.machine.sendRequest(head, endStream: false, to: &client.output)
        server.feed(client.takeOutput())
        #expect(server.events == [.headers(stream: 1, .request(head), endStream: false)])
    }

    @Test func errorsHaveCategories() {
        #expect(HTTP2Error(.badSetting).category == .unparsableResponse)
        #expect(HTTP2Error(.tooManyInterimResponses, .stream(1)).category == .unparsableResponse)
        #expect(HTTP2Error(.sendClosed, .call).category == .invalidRequest)
    }
}
