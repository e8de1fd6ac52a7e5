import Foundation
import Glibc
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Connections of HTTP/2 to the loopback server, while its routes, closures and tunnels wait.
@Suite struct HTTP2ServerTests {
    private static func server(
        _ configure: (inout LoopbackServer.Options) -> Void = { _ in }, _ route: @escaping LoopbackServer.Route
    ) throws -> LoopbackServer {
        var options = LoopbackServer.Options()
        options.speaksHTTP2 = true
        configure(&options)
        return try LoopbackServer(options, route: route)
    }

    private static func run<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withTimeout(name) { try await onThread(body) }
    }

    /// A client without an answer to its PING closes the connection.
    @Test(arguments: ["/route", "/body"]) func answersAPINGWhileARouteWaits(_ path: String) async throws {
        let (waits, release) = (Signal(), Signal())
        let wait = { @Sendable (request: ServerRequest, place: String) throws in
            guard request.path == place else { return }
            waits.fire()
            try request.exchange.wait(for: release)
        }
        let server = try Self.server { request in
            try wait(request, "/route")
            return .stream(.length(3)) { writer in
                try wait(request, "/body")
                try writer.write("abc")
            }
        }
        defer { server.stop() }
        let events = try await Self.run(path) {
            let client = try HTTP2Client(server.address)
            let stream = try client.get(path)
            waits.waitBlocking()
            try client.ping(7)
            let hasAnswer = try client.next { $0 == .pingAcknowledged(7) }
            release.fire()
            return [hasAnswer, try client.end(of: stream)]
        }
        #expect(events == [true, true])
    }

    /// A response that was begun is sent on while a closure for the body of another request waits.
    @Test(arguments: ["/before", "/interim", "/body"])
    func aRouteGoesOnWhileAnotherClosureWaits(_ path: String) async throws {
        let (began, waits, release) = (Signal(), Signal(), Signal())
        let wait = { @Sendable (request: ServerRequest, place: String) throws in
            guard request.path == place else { return }
            waits.fire()
            try request.exchange.wait(for: release)
        }
        let server = try Self.server {
            $0.beforeBody = { request in
                try wait(request, "/before")
                return nil
            }
            $0.interimResponses = { request in
                try wait(request, "/interim")
                return []
            }
            $0.receiveBody = { request, _ in try wait(request, "/body") }
        } _: { request in
            guard request.path == "/first" else { return ServerResponse(204) }
            began.fire()
            try request.exchange.wait(for: waits)
            return .text("first")
        }
        defer { server.stop() }
        let ends = try await Self.run(path) {
            let client = try HTTP2Client(server.address)
            let first = try client.get("/first")
            began.waitBlocking()
            let second = try client.post(path, "body")
            let firstEnds = try client.end(of: first)
            release.fire()
            return [firstEnds, try client.end(of: second)]
        }
        #expect(ends == [true, true])
    }

    /// The reading thread may find the connection's end before the connection's thread has taken the last request.
    @Test func requestsThatComeWithTheEndAreAnswered() async throws {
        let server = try Self.server { _ in ServerResponse(204) }
        defer { server.stop() }
        let count = 100
        let answered = try await Self.run("the requests") {
            try (0..<count).filter { _ in
                let client = try HTTP2Client(server.address)
                let stream = try client.get("/")
                client.halfClose()
                return try client.end(of: stream)
            }.count
        }
        #expect(answered == count && server.requests.count == count && server.failures.snapshot == [])
    }

    /// A reset does not wait until closures of other streams have returned.
    @Test(arguments: ["tunnel", "route"]) func aResetWaitsForNoOtherStream(_ who: String) async throws {
        let (tunnelWaits, routeWaits, release) = (Signal(), Signal(), Signal())
        let server = try Self.server { request in
            guard request.path == "/tunnel" else {
                routeWaits.fire()
                try request.exchange.wait(for: tunnelWaits)
                if who == "route" { try request.exchange.reset() }
                try request.exchange.wait(for: release)
                return ServerResponse(204)
            }
            return ServerResponse(
                200,
                body: .tunnel { _ in
                    tunnelWaits.fire()
                    try request.exchange.wait(for: routeWaits)
                    if who == "tunnel" { try request.exchange.reset() }
                    try request.exchange.wait(for: release)
                })
        }
        defer { server.stop() }
        defer { release.fire() }
        let code = try await Self.run(who) {
            let client = try HTTP2Client(server.address)
            guard try client.next({ if case .ready = $0 { true } else { false } }) else { return nil as Int32? }
            _ = try client.connect("/tunnel")
            _ = try client.get("/")
            do {
                _ = try client.next { _ in false }
                return nil
            } catch let error as SocketError {
                return error.code
            }
        }
        #expect(code == ECONNRESET)
    }

    /// The ways in which streams that have switched, or were to switch, end with unread bytes.
    enum UnreadEnd: String, CaseIterable, Sendable {
        case tunnelReturns, tunnelFails, routeRefuses, routeCannotSwitch, resetBeforeRoute

        /// Whether the client resets the stream while it has unread bytes.
        var isReset: Bool { self == .tunnelFails || self == .resetBeforeRoute }
        var isTunnel: Bool { self == .tunnelReturns || self == .tunnelFails }
    }

    /// Unread bytes of four streams fill the connection's window. It opens again when the streams have ended.
    @Test(arguments: UnreadEnd.allCases) func unreadBytesLeaveTheWindowToOtherStreams(_ end: UnreadEnd) async throws {
        let release = Signal()
        let server = try Self.server { request in
            guard request.path != "/upload" else { return ServerResponse(204) }
            if !end.isTunnel { try request.exchange.wait(for: release) }
            switch end {
            case .routeRefuses: return ServerResponse(403)
            case .routeCannotSwitch: return ServerResponse(200, body: .takeOver { _ in })
            case .tunnelReturns, .tunnelFails, .resetBeforeRoute: break
            }
            return ServerResponse(
                200,
                body: .tunnel { tunnel in
                    try request.exchange.wait(for: release)
                    if end == .tunnelFails { try tunnel.write([0]) }
                })
        }
        defer { server.stop() }
        defer { release.fire() }
        let isAnswered = try await Self.run(end.rawValue) {
            let client = try HTTP2Client(server.address)
            guard try client.next({ if case .ready = $0 { true } else { false } }) else { return false }
            for _ in 0..<4 {
                let stream = try client.connect("/tunnel")
                if end.isTunnel {
                    _ = try client.next { if case .headers(stream, _, _) = $0 { true } else { false } }
                }
                guard try client.send(1 << 20, on: stream) else { return false }
                if end.isReset { try client.reset(stream) }
            }
            // The server has received all that comes before the PING.
            try client.ping(1)
            guard try client.next({ $0 == .pingAcknowledged(1) }) else { return false }
            release.fire()
            let upload = try client.begin("/upload")
            guard try client.send(1 << 20, on: upload, endStream: true) else { return false }
            return try client.end(of: upload)
        }
        #expect(isAnswered)
    }

    /// Trailers end a stream, too (RFC 9113 §8.1).
    @Test func trailersEndATunnel() async throws {
        let server = try Self.server { _ in
            ServerResponse(200, body: .tunnel { tunnel in while try !tunnel.read().isEmpty {} })
        }
        defer { server.stop() }
        let ends = try await Self.run("the tunnel") {
            let client = try HTTP2Client(server.address)
            guard try client.next({ if case .ready = $0 { true } else { false } }) else { return false }
            let stream = try client.connect("/tunnel")
            try client.sendTrailers(on: stream)
            return try client.end(of: stream)
        }
        #expect(ends)
    }

    /// `100 Continue` is for a request that has no response yet (RFC 9110 §10.1.1).
    @Test(arguments: [("/refused", "100-continue", false), ("/accepted", "100-Continue", true)])
    func aRefusedRequestIsNotContinued(_ path: String, _ expectation: String, _ expected: Bool) async throws {
        let server = try Self.server {
            $0.beforeBody = { request in request.path == "/refused" ? ServerResponse(417) : nil }
        } _: { _ in
            ServerResponse(204)
        }
        defer { server.stop() }
        let isContinued = try await Self.run(path) {
            let client = try HTTP2Client(server.address)
            let stream = try client.begin(path, expecting: expectation)
            var isContinued = false
            _ = try client.next { event in
                guard case .headers(stream, let head, _) = event else { return false }
                if case .interim(100, _) = head { isContinued = true }
                return true
            }
            return isContinued
        }
        #expect(isContinued == expected)
    }

    @Test func anEarlyResponseMayTakeTheStream() async throws {
        let server = try Self.server {
            $0.beforeBody = { _ in
                ServerResponse(200, body: .tunnel { tunnel in try tunnel.write(tunnel.read()) })
            }
        } _: { _ in
            ServerResponse(500)
        }
        defer { server.stop() }
        let count = try await Self.run("the tunnel") {
            let client = try HTTP2Client(server.address)
            guard try client.next({ if case .ready = $0 { true } else { false } }) else { return 0 }
            let stream = try client.connect("/tunnel")
            guard try client.send(3, on: stream) else { return 0 }
            var count = 0
            _ = try client.next { event in
                guard case .data(stream, let range, _, _) = event else { return false }
                count = range.count
                return true
            }
            return count
        }
        #expect(count == 3)
    }
}

/// A client that speaks HTTP/2 frame by frame, without TLS.
private final class HTTP2Client {
    private let socket: StreamSocket
    private var machine = HTTP2ConnectionStateMachine(role: .client)
    private var output: [UInt8] = []
    private var input: [UInt8] = []
    private var position = 0

    init(_ address: LoopbackAddress) throws {
        socket = try StreamSocket(connectingTo: address)
        machine.sendPreface(to: &output)
        try flush()
    }

    func get(_ path: String) throws -> HTTP2StreamID { try send("GET", path, nil) }
    func post(_ path: String, _ body: String) throws -> HTTP2StreamID { try send("POST", path, body) }
    func connect(_ path: String) throws -> HTTP2StreamID { try send("CONNECT", path, "", connecting: "tunnel") }
    /// Sends a request whose body follows.
    func begin(_ path: String, expecting expectation: String? = nil) throws -> HTTP2StreamID {
        var fields = HTTPFields()
        if let expectation { fields.append(.expect, expectation) }
        return try send("POST", path, "", fields: fields)
    }

    private func send(
        _ method: String, _ path: String, _ body: String?, connecting name: String? = nil,
        fields: HTTPFields = HTTPFields()
    ) throws -> HTTP2StreamID {
        let head = HTTP2RequestHead(
            method: method, scheme: "http", authority: "h", path: path, connectProtocol: name, fields: fields)
        let stream = try machine.sendRequest(head, endStream: body == nil, to: &output)
        if let body, !body.isEmpty {
            try machine.sendDataHeader(body.utf8.count, on: stream, endStream: true, to: &output)
            output += body.utf8
        }
        try flush()
        return stream
    }

    func ping(_ value: UInt64) throws {
        machine.sendPing(value, to: &output)
        try flush()
    }

    /// Sends bytes as the server opens its windows. False if the connection ended first.
    func send(_ count: Int, on stream: HTTP2StreamID, endStream: Bool = false) throws -> Bool {
        var rest = count
        while rest > 0 {
            let size = min(machine.sendableBytes(on: stream), rest)
            guard size > 0 else {
                guard try next({ if case .windowOpened = $0 { true } else { false } }) else { return false }
                continue
            }
            rest -= size
            try machine.sendDataHeader(size, on: stream, endStream: endStream && rest == 0, to: &output)
            output += [UInt8](repeating: 0, count: size)
            try flush()
        }
        return true
    }

    func sendTrailers(on stream: HTTP2StreamID) throws {
        var fields = HTTPFields()
        fields.append(name: "x-sum", value: "1")
        try machine.sendTrailers(fields, on: stream, to: &output)
        try flush()
    }

    func reset(_ stream: HTTP2StreamID) throws {
        machine.sendReset(stream, .cancel, to: &output)
        try flush()
    }

    func halfClose() { socket.halfClose() }

    /// Whether the stream ended before the connection did.
    func end(of stream: HTTP2StreamID) throws -> Bool {
        try next {
            switch $0 {
            case .data(stream, _, _, endStream: true), .headers(stream, _, endStream: true): true
            case _: false
            }
        }
    }

    /// Whether such an event came before the connection's end.
    func next(_ isWanted: (HTTP2Event) -> Bool) throws -> Bool {
        while true {
            let event = try input.withUnsafeBytes { bytes throws(HTTP2Error) in
                try machine.receive(bytes, &position)
            }
            if let event {
                if isWanted(event) { return true }
                continue
            }
            machine.drainControlBytes(into: &output)
            // The connection's end is what the next read returns.
            try? flush()
            (input, position) = (try socket.read(), 0)
            if input.isEmpty { return false }
        }
    }

    private func flush() throws {
        try socket.write(output)
        output.removeAll()
    }
}
