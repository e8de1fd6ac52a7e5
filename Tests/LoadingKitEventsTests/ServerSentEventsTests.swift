import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import Synchronization
import TestSupport
import Testing

@testable import LoadingKitEvents

/// Event streams of a server that answers, ends the stream, and loses connections.
@Suite(.timeLimit(.minutes(5))) struct ServerSentEventsTests {
    private static let type = "text/event-stream"

    /// Reconnects at once, and records how long it would have waited.
    private static func options(_ pauses: Recorder<Double> = Recorder(), attempts: Int? = nil) -> EventStreamOptions {
        var options = EventStreamOptions()
        options.reconnection.sleep = { pauses.append($0) }
        options.reconnection.random = { 0 }
        options.reconnection.maximumAttempts = attempts
        return options
    }

    private static func events(
        _ server: LoopbackServer, _ session: URLSession, _ options: EventStreamOptions, _ path: String = "/"
    ) throws -> ServerSentEvents {
        session.events(from: try #require(URL(string: server.url(path))), options: options)
    }

    private static func text(_ text: String, _ type: String = type + "; charset=utf-8") -> ServerResponse {
        .bytes(Array(text.utf8), type: type)
    }

    /// Events after the one that the request names; status 204 after the last.
    private static func next(
        _ count: Int, after request: ServerRequest, upTo last: Int, _ event: (Int) -> String
    ) -> ServerResponse {
        let first = (request.fields[name: "Last-Event-ID"].flatMap { Int($0) } ?? 0) + 1
        return first > last ? ServerResponse(204) : text((first..<first + count).map(event).joined())
    }

    private static func session() -> URLSession { URLSession(configuration: .ephemeral) }

    private static func all(_ events: ServerSentEvents) async throws -> [String] {
        try await events.reduce(into: []) { $0.append("\($1.id):\($1.event):\($1.data)") }
    }

    /// The stream ends, fails in the middle of an event and before a response, and continues each time.
    @Test func aStreamGoesOnOverConnections() async throws {
        let server = try LoopbackServer { request in
            switch request.connection {
            case 0: return Self.text("retry: 500\nid: 1\ndata: a\n\nid: x\ndata: incomplete\n").closing()
            case 1:
                return .stream(.chunked, type: Self.type) { body in
                    try body.write("id: zwei-é\nevent: add\ndata: b\n\nid: 3\ndata: lo")
                    throw CancellationError()
                }
            case 2: try request.exchange.closeAbruptly()
            case 3: return Self.text("data: c\n\nid: 4\n\n").closing()
            default: return ServerResponse(204)
            }
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let pauses = Recorder<Double>()
        let events = try Self.events(server, session, Self.options(pauses))
        #expect(try await Self.all(events) == ["1:message:a", "zwei-é:add:b", "zwei-é:message:c"])
        let requests = server.requests.snapshot
        #expect(requests.map { $0.fields[name: "Last-Event-ID"] }.last == "4")
        #expect(
            requests.first?.fields[name: "Last-Event-ID"] == nil && requests[1].fields[name: "Last-Event-ID"] == "1")
        let second = requests[2].fields[name: "Last-Event-ID"]
        #expect(second.map { Array($0.utf8) } == Array("zwei-é".utf8))
        #expect(requests.allSatisfy { $0.fields[name: "Accept"] == "text/event-stream" })
        #expect(requests.allSatisfy { $0.fields[name: "Cache-Control"] == "no-store" })
        #expect(pauses.snapshot.allSatisfy { $0 >= 0.5 } && pauses.snapshot.first == 0.5)
        #expect(events.lastEventID == "4" && events.state == .closed)
    }

    /// An ID that no field can contain is left out of the next request, and does not end the stream.
    @Test(
        arguments: [
            ("a\u{1}", nil), ("\u{1b}", nil), ("a\u{7f}b", nil), ("a\u{b}", nil), ("a\tb", "a\tb"), ("é", "é"),
        ] as [(String, String?)])
    func anIDMayHaveAnyBytes(id: String, sent: String?) async throws {
        let server = try LoopbackServer { request in
            request.connection == 0 ? Self.text("id: \(id)\ndata: x\n\n").closing() : ServerResponse(204)
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let events = try Self.events(server, session, Self.options())
        #expect(try await Self.all(events) == ["\(id):message:x"])
        #expect(server.requests.count == 2 && events.lastEventID == id)
        #expect(
            server.requests.last?.fields[name: "Last-Event-ID"].map { Array($0.utf8) } == sent.map { Array($0.utf8) })
    }

    /// The request's own ID is that of its first connection: later ones have the server's, which may be none.
    @Test(arguments: [("id:\n", nil), ("id: 8\n", "8"), ("", "7")] as [(String, String?)])
    func theRequestsOwnIDIsTheFirst(field: String, next: String?) async throws {
        let server = try LoopbackServer { request in
            request.number == 0 ? Self.text("\(field)data: a\n\n") : ServerResponse(204)
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url())))
        request.setValue("7", forHTTPHeaderField: "Last-Event-ID")
        let events = session.events(for: request, options: Self.options())
        #expect(try await Self.all(events) == ["\(next ?? ""):message:a"])
        #expect(server.requests.snapshot.map { $0.fields[name: "Last-Event-ID"] } == ["7", next])
        #expect(events.lastEventID == next ?? "")
    }

    /// Some servers, as those of MCP, answer only requests that accept JSON, too.
    @Test func theRequestsOwnAcceptIsSent() async throws {
        let server = try LoopbackServer { request in
            request.number == 0 ? Self.text("data: a\n\n") : ServerResponse(204)
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url())))
        let accepted = "application/json, text/event-stream"
        request.setValue(accepted, forHTTPHeaderField: "Accept")
        let events = session.events(for: request, options: Self.options())
        #expect(try await Self.all(events) == [":message:a"])
        #expect(server.requests.snapshot.map { $0.fields[name: "Accept"] } == [accepted, accepted])
    }

    private struct TimeoutRecorder: LoadInterceptor {
        let timeouts = Recorder<Double>()

        func load(_ load: LoadContext) async throws {
            timeouts.append(load.request.timeoutInterval)
            try await load.receive(load.next.load(load.request))
        }
    }

    /// The option is for requests without a timeout of their own, in sessions without one.
    @Test(
        arguments: [(60, nil, 300), (3600, nil, 60), (30, nil, 60), (60, 90, 90), (3600, 90, 90)]
            as [(Double, Double?, Double)])
    func theIdleTimeoutReplacesTheDefault(session limit: Double, own: Double?, expected: Double) async throws {
        let server = try LoopbackServer { _ in ServerResponse(204) }
        defer { server.stop() }
        let recorder = TimeoutRecorder()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = limit
        configuration.interceptors = [recorder]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url())))
        if let own { request.timeoutInterval = own }
        #expect(try await Self.all(session.events(for: request, options: Self.options())) == [])
        #expect(recorder.timeouts.snapshot == [expected])
    }

    /// Wherever the connection breaks, the events before that are given, and the next request says where to go on.
    @Test func aBreakInEachPlaceLosesNothing() async throws {
        let seen = Mutex<Set<String>>([])
        let stream = Array("id:1\ndata:a\n\nid:2\ndata:b\n\nid:3\ndata:c\n\n".utf8)
        let server = try LoopbackServer { request in
            let last = request.fields[name: "Last-Event-ID"].flatMap { Int($0) } ?? 0
            if last == 3 { return ServerResponse(204) }
            let rest = Array(stream[(last * 13)...])
            let cut = min(Int(request.path.dropFirst()) ?? 0, rest.count)
            let isFirst = seen.withLock { $0.insert(request.path).inserted }
            return .stream(.length(UInt64(rest.count)), type: Self.type) { body in
                try body.write(Array(rest[..<(isFirst ? cut : rest.count)]))
                if isFirst, cut < rest.count { throw CancellationError() }
            }.closing()
        }
        defer { server.stop() }
        for cut in 0...stream.count {
            let session = Self.session()
            defer { session.invalidateAndCancel() }
            let events = try Self.events(server, session, Self.options(), "/\(cut)")
            #expect(try await Self.all(events) == ["1:message:a", "2:message:b", "3:message:c"], "cut at \(cut)")
        }
    }

    /// The clock of a machine that has just started may be behind until it is set.
    @Test func aCertificateThatIsNotYetValidMayPass() {
        for hasAnswered in [true, false] {
            #expect(URLError(.serverCertificateNotYetValid).mayPass(hasAnswered: hasAnswered))
            #expect(!URLError(.serverCertificateHasBadDate).mayPass(hasAnswered: hasAnswered))
        }
    }

    /// Connections that end before the TLS handshake is complete are failures of the network, too, where the server has
    /// answered before. A server without usable TLS would fail for ever.
    @Test(arguments: [true, false]) func aBreakInTheHandshake(comesLater: Bool) async throws {
        let authority = try CertificateAuthority()
        let tls = TLSServerOptions(try authority.issue())
        let stream = ScriptedPeer.Step.respond(
            "data: a\n\n", fields: ["Content-Type: \(Self.type)", "Connection: close"])
        let first: [[ScriptedPeer.Step]] = comesLater ? [[.startTLS(tls), .expectRequest, stream]] : []
        let peer = try ScriptedPeer(
            scripts: first + [
                [.expectAnything, .close], [.expectAnything, .reset],
                [.startTLS(tls), .expectRequest, .send("HTTP/1.1 204 No Content\r\n\r\n")],
            ])
        defer { peer.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tlsTrustRoots = .pem(authority.certificatePEM)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: peer.url().replacing("http:", with: "https:")))
        let pauses = Recorder<Double>()
        let events = session.events(from: url, options: Self.options(pauses))
        if comesLater {
            #expect(try await Self.all(events) == [":message:a"])
            #expect(pauses.snapshot == [3, 3, 6])
        } else {
            let error = await #expect(throws: URLError.self) { try await Self.all(events) }
            #expect(error?.code == .secureConnectionFailed && pauses.count == 0)
        }
    }

    @Test(arguments: [
        (404, "text/event-stream", "gone"), (200, "text/html", "<p>"), (206, "text/event-stream", ""),
        (500, "text/plain", "oops"),
    ])
    func anotherResponseFails(status: Int, type: String, body: String) async throws {
        let server = try LoopbackServer { _ in .bytes(Array(body.utf8), type: type, status: status) }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let events = try Self.events(server, session, Self.options())
        let error = await #expect(throws: EventStreamError.self) { try await Self.all(events) }
        let bytes = Data(body.utf8)
        #expect(error == (status == 200 ? .mimeType(type, firstBytes: bytes) : .status(status, firstBytes: bytes)))
        #expect(server.requests.count == 1 && events.state == .closed)
    }

    /// The error waits for the first bytes of a body for a limited time, and not for the end that the server leaves open.
    @Test(arguments: [
        (404, "text/event-stream", ""), (503, "text/plain", String(repeating: "b", count: 1024)),
        (200, "text/html", String(repeating: "<", count: 1024)),
    ])
    func anotherResponseThatDoesNotEndFails(status: Int, type: String, body: String) async throws {
        let server = try LoopbackServer { _ in
            var response = ServerResponse.stream(.chunked, type: type) { writer in
                if !body.isEmpty { try writer.write(body) }
                try writer.waitUntilClientCloses()
            }
            response.status = status
            return response
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let events = try Self.events(server, session, Self.options())
        let error = await FirstBytes.$time.withValue(body.isEmpty ? .zero : .seconds(1000)) {
            await #expect(throws: EventStreamError.self) { try await Self.all(events) }
        }
        let bytes = Data(body.utf8)
        #expect(error == (status == 200 ? .mimeType(type, firstBytes: bytes) : .status(status, firstBytes: bytes)))
        await server.endings.count(reaches: 1)
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func redirectsAreFollowed(status: Int) async throws {
        let server = try LoopbackServer { request in
            if request.path == "/old" { return .redirect(to: "/new", status: status) }
            let accept = request.fields[name: "Accept"] ?? ""
            let id = request.fields[name: "Last-Event-ID"] ?? ""
            return request.number < 3 && id != "1"
                ? Self.text("id: 1\ndata: \(request.method) \(accept) \(id)\n\n") : ServerResponse(204)
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        var options = Self.options()
        options.lastEventID = "0"
        let events = try Self.events(server, session, options, "/old")
        #expect(try await Self.all(events) == ["1:message:GET text/event-stream 0"])
        #expect(server.requests.snapshot.map(\.path) == ["/old", "/new", "/old", "/new"])
    }

    /// Connections that are refused, one after the other: the pauses double, up to a bound, and in the end the error comes.
    @Test func failuresBackOffAndEndAtTheMaximum() async throws {
        let server = try LoopbackServer { _ in Self.text("") }
        let target = server.url()
        server.stop()
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let pauses = Recorder<Double>()
        var options = Self.options(pauses, attempts: 7)
        options.reconnection.maximumBackoff = 40
        let events = session.events(from: try #require(URL(string: target)), options: options)
        let error = await #expect(throws: URLError.self) { try await Self.all(events) }
        #expect(error?.code == .cannotConnectToHost && pauses.snapshot == [3, 6, 12, 24, 40, 40])
        var iterator = events.makeAsyncIterator()
        await #expect(throws: URLError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test(arguments: [("20", 20.0), ("Fri, 31 Dec 9999 23:59:59 GMT", 300)])
    func aStatusIsTriedAgainWhereThatIsAskedFor(_ retryAfter: String, _ pause: Double) async throws {
        let server = try LoopbackServer { request in
            switch request.number {
            case 0: ServerResponse(503).adding("Retry-After", retryAfter)
            case 1: ServerResponse(429)
            case 2: Self.text("data: a\n\n")
            default: ServerResponse(204)
            }
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let pauses = Recorder<Double>()
        var options = Self.options(pauses)
        options.reconnection.retriedStatuses = [429, 503]
        #expect(try await Self.all(Self.events(server, session, options)) == [":message:a"])
        #expect(pauses.snapshot == [pause, 6, 3])
    }

    /// A request that may do something is sent once, also where its connection is lost, before its response or in it.
    @Test(arguments: [true, false]) func aPostThatIsLostIsNotSentAgain(hasBegun: Bool) async throws {
        let server = try LoopbackServer { request in
            guard hasBegun else { try request.exchange.closeAbruptly() }
            return .stream(.chunked, type: Self.type) { body in
                try body.write("data: a\n\n")
                throw CancellationError()
            }
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url())))
        request.httpMethod = "POST"
        let events = session.events(for: request, options: Self.options())
        let error = await #expect(throws: URLError.self) { try await Self.all(events) }
        #expect(error?.code == .networkConnectionLost && server.requests.count == 1 && events.state == .closed)
    }

    /// A request that may do something is sent once.
    @Test func aPostIsNotSentAgainUnlessThatIsAskedFor() async throws {
        let server = try LoopbackServer { request in
            request.number == 0
                ? Self.text("data: \(request.method) \(request.bodyText)\n\n") : ServerResponse(204)
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url())))
        request.httpMethod = "POST"
        request.httpBody = Data("question".utf8)
        #expect(try await Self.all(session.events(for: request, options: Self.options())) == [":message:POST question"])
        #expect(server.requests.count == 1)
        var options = Self.options()
        options.reconnection.isEnabled = true
        #expect(try await Self.all(session.events(for: request, options: options)) == [])
    }

    @Test func statesAreObserved() async throws {
        let server = try LoopbackServer { request in
            request.number == 0 ? Self.text("data: a\n\n") : ServerResponse(204)
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let events = try Self.events(server, session, Self.options())
        var states = events.states.makeAsyncIterator()
        #expect(await states.next() == .closed && server.requests.count == 0)
        var iterator = events.makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a" && events.state == .open)
        #expect(try await iterator.next() == nil)
        var seen: [EventStreamState] = []
        while seen.last != .closed, let state = await states.next() { seen.append(state) }
        #expect(seen == [.connecting(attempt: 1), .open, .waiting(seconds: 3), .connecting(attempt: 2), .closed])
    }

    enum Place: CaseIterable { case beforeResponse, betweenEvents, whileWaiting }

    @Test(arguments: Place.allCases) func cancellingEndsAtOnce(place: Place) async throws {
        let (reached, sleeping) = (Signal(), Signal())
        let server = try LoopbackServer { request in
            switch place {
            case .beforeResponse:
                reached.fire()
                try request.exchange.waitUntilClientCloses()
                throw CancellationError()
            case .betweenEvents:
                return .stream(.chunked, type: Self.type) { body in
                    try body.write("data: a\n\n")
                    try body.waitUntilClientCloses()
                }
            case .whileWaiting: return Self.text("data: a\n\n")
            }
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        var options = EventStreamOptions()
        options.reconnection.sleep = { _ in
            sleeping.fire()
            try await Task.sleep(for: .seconds(3600))
        }
        let events = try Self.events(server, session, options)
        let task = Task {
            for try await _ in events { if place == .betweenEvents { reached.fire() } }
        }
        await (place == .whileWaiting ? sleeping : reached).wait()
        task.cancel()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled && events.state == .closed)
        #expect(error?.localizedDescription == "cancelled")
        if place != .whileWaiting { await server.endings.count(reaches: 1) }
        #expect(server.requests.count == 1)
    }

    /// A loop that is left ends its connection, and a new loop continues after the last event that was read.
    @Test func aLoopThatIsLeftMayGoOn() async throws {
        let server = try LoopbackServer { request in
            .stream(.chunked, type: Self.type) { body in
                let first = (request.fields[name: "Last-Event-ID"].flatMap { Int($0) } ?? 0) + 1
                try body.write((first...first + 9).map { "id: \($0)\ndata: \($0)\n\n" }.joined())
                try body.waitUntilClientCloses()
            }
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let events = try Self.events(server, session, Self.options())
        for try await event in events where event.data == "3" { break }
        await server.endings.count(reaches: 1)
        var rest: [String] = []
        for try await event in events.prefix(2) { rest.append(event.data) }
        #expect(rest == ["4", "5"])
    }

    /// A loop that is ahead does not make another one over the same sequence pass over events when it reconnects.
    @Test func twoLoopsAtOnceGetAllEvents() async throws {
        let server = try LoopbackServer { request in
            Self.next(3, after: request, upTo: 9) { "id: \($0)\ndata: \($0)\n\n" }
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let events = try Self.events(server, session, Self.options())
        var (slow, fast) = (events.makeAsyncIterator(), events.makeAsyncIterator())
        var (first, second): ([String], [String]) = ([], [])
        if let event = try await slow.next() { first.append(event.data) }
        while let event = try await fast.next() { second.append(event.data) }
        while let event = try await slow.next() { first.append(event.data) }
        let all = (1...9).map { "\($0)" }
        #expect(first == all && second == all)
    }

    /// The number of unread bytes is limited by the buffers of LoadingKit, the parser and the sockets.
    @Test func aSlowReaderStopsTheReading() async throws {
        let event = "data: " + String(repeating: "x", count: 8_000) + "\n\n"
        let count = 16_000
        let written = Mutex(0)
        let server = try LoopbackServer { _ in
            .stream(.chunked, type: Self.type) { body in
                for _ in 0..<count {
                    try body.write(event)
                    written.withLock { $0 += 1 }
                }
            }
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        var options = Self.options()
        options.reconnection.isEnabled = false
        var (read, most) = (0, 0)
        for try await event in try Self.events(server, session, options) {
            read += 1
            #expect(event.data.utf8.allSatisfy { $0 == 0x78 })
            most = max(most, written.withLock { $0 } - read)
        }
        #expect(read == count && most * event.utf8.count < 24 << 20, "\(most) events ahead")
    }

    @Test func fiftyStreamsAtOnceKeepTheirEvents() async throws {
        let server = try LoopbackServer { request in
            Self.next(5, after: request, upTo: 20) { "id:\($0)\ndata:\(request.path) \($0)\n\n" }
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                let events = try Self.events(server, session, Self.options(), "/\(number)")
                group.addTask {
                    try await events.reduce(into: []) { $0.append($1.data) } == (1...20).map { "/\(number) \($0)" }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test func aLimitEndsTheStreamBehindTheEventsBeforeIt() async throws {
        let server = try LoopbackServer { _ in Self.text("data: a\n\ndata: 12345\n\ndata: b\n\n") }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        var options = Self.options()
        options.limits.maximumEventSize = 4
        var seen: [String] = []
        await #expect(throws: EventStreamParseError.eventTooLong(limit: 4)) {
            for try await event in try Self.events(server, session, options) { seen.append(event.data) }
        }
        #expect(seen == ["a"] && server.requests.count == 1)
    }

    @Test func challengesAreTheSessions() async throws {
        final class Login: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
            ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
                (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
            }
        }
        let server = try LoopbackServer { request in
            guard request.fields[name: "Authorization"] != nil else {
                return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
            }
            return request.fields[name: "Last-Event-ID"] == nil ? Self.text("id:1\ndata:a\n\n") : ServerResponse(204)
        }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let request = URLRequest(url: try #require(URL(string: server.url())))
        let events = session.events(for: request, options: Self.options(), delegate: Login())
        #expect(try await Self.all(events) == ["1:message:a"])
        let error = await #expect(throws: EventStreamError.self) {
            try await Self.all(Self.events(server, URLSession(configuration: .ephemeral), Self.options()))
        }
        #expect(error == .status(401, firstBytes: Data()))
    }
}
