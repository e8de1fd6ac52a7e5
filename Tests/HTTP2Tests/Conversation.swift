import LoadingKitHTTP2
import TestSupport

/// Two peers that send random bodies on many streams.
struct Conversation {
    var client: Peer
    var server: Peer
    var random: SeededGenerator
    private(set) var requestBodies: [HTTP2StreamID: [UInt8]] = [:]
    private(set) var responseBodies: [HTTP2StreamID: [UInt8]] = [:]
    private var clientWork: [(stream: HTTP2StreamID, rest: ArraySlice<UInt8>)] = []
    private var serverWork: [(stream: HTTP2StreamID, rest: ArraySlice<UInt8>)] = []
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []

    init(client: Peer, server: Peer, random: SeededGenerator) {
        self.client = client
        self.server = server
        self.random = random
    }

    mutating func run(streams: Int) throws {
        var opened = 0
        var rounds = 0
        repeat {
            if opened < streams, Bool.random(using: &random) {
                try open()
                opened += 1
            }
            client.work(&clientWork, &random)
            server.work(&serverWork, &random)
            toServer += client.takeOutput()
            toClient += server.takeOutput()
            Self.carry(&toServer, &server, &random)
            Self.carry(&toClient, &client, &random)
            try answer()
            rounds += 1
        } while rounds < 100_000 && client.error == nil && server.error == nil
            && (opened < streams || !clientWork.isEmpty || !serverWork.isEmpty || !toServer.isEmpty
                || !toClient.isEmpty || client.machine.openStreamCount > 0)
    }

    private mutating func body() -> [UInt8] {
        let sizes = [1, 10, 1000, 16384, 100_000]
        return (0..<Int.random(in: 1...(sizes.randomElement(using: &random) ?? 1), using: &random)).map {
            UInt8(truncatingIfNeeded: $0)
        }
    }

    private mutating func open() throws {
        let body = body()
        let head = HTTP2RequestHead(
            method: "PUT", scheme: "http", authority: "a", path: "/",
            fields: fields(("content-length", "\(body.count)"), ("x-\(requestBodies.count)", "y")))
        let stream = try client.machine.sendRequest(head, endStream: false, to: &client.output)
        requestBodies[stream] = body
        clientWork.append((stream, body[...]))
    }

    /// The server answers each request as soon as it begins.
    private mutating func answer() throws {
        for case .headers(let stream, .request, _) in server.takeEvents() {
            let body = body()
            responseBodies[stream] = body
            try server.machine.sendResponse(
                200, fields(("content-length", "\(body.count)")), on: stream, endStream: false, to: &server.output)
            serverWork.append((stream, body[...]))
        }
    }

    private static func carry(_ bytes: inout [UInt8], _ peer: inout Peer, _ random: inout SeededGenerator) {
        let count = min(bytes.count, Int.random(in: 0...30000, using: &random))
        peer.feed(Array(bytes.prefix(count)))
        bytes.removeFirst(count)
    }
}

extension Peer {
    /// Sends a random part of some streams' bodies.
    mutating func work(
        _ work: inout [(stream: HTTP2StreamID, rest: ArraySlice<UInt8>)], _ random: inout SeededGenerator
    ) {
        for index in work.indices where Bool.random(using: &random) {
            let wanted = Int.random(in: 1...work[index].rest.count, using: &random)
            let sent = sendBody(
                work[index].rest.prefix(wanted), on: work[index].stream, endStream: wanted == work[index].rest.count)
            work[index].rest = work[index].rest.dropFirst(sent)
        }
        work.removeAll { $0.rest.isEmpty }
    }
}
