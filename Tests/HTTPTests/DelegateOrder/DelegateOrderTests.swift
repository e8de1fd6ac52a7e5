import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// In which order delegates are told things, by the scenarios of `OrderScenario.all`.
@Suite struct DelegateOrderTests {
    static let cases = OrderScenario.all.flatMap { scenario in scenario.versions.map { (scenario, $0) } }

    @Test(arguments: cases) func isApples(_ scenario: OrderScenario, _ version: String) async throws {
        try await check(scenario, version, CompletionOrderRecorder(scenario.answers))
    }

    @Test("is the same for a delegate of asynchronous methods", arguments: cases)
    func isApplesForAsynchronousMethods(_ scenario: OrderScenario, _ version: String) async throws {
        try await check(scenario, version, AsynchronousOrderRecorder(scenario.answers))
    }

    private func check(
        _ scenario: OrderScenario, _ version: String, _ recorder: any OrderRecorder & URLSessionDelegate
    ) async throws {
        let release = Signal()
        let loop = scenario.isTimed ? EventLoop.next() : .still()
        defer { if !scenario.isTimed { loop.stop() } }
        let route: LoopbackServer.Route = { try OrderServer.answer($0, release) }
        try await BothVersions.withServer(
            version, route, delegate: recorder, on: loop,
            { configuration in
                // Stored responses have a scenario of their own.
                configuration.urlCache = nil
                scenario.configure(configuration)
            },
            body: { session, server in
                try await scenario.run(
                    OrderRun(session: session, server: server, recorder: recorder, release: release))
                _ = await recorder.events(upTo: "complete")
                session.finishTasksAndInvalidate()
                let events = await recorder.events(upTo: "invalid")
                #expect(events == ["created"] + scenario.expected + ["invalid"], "\(scenario) \(version)")
                release.fire()
            })
    }

    /// A task that was resumed has metrics, once, and just before it is over: whatever became of it.
    @Test func everyScenarioEndsWithMetricsAndTheCompletion() {
        for scenario in OrderScenario.all {
            let events = scenario.expected
            let ends = events.indices.filter { events[$0].hasPrefix("complete") }
            let metrics = events.indices.filter { events[$0] == "metrics" }
            #expect(!ends.isEmpty && metrics.map { $0 + 1 } == ends, "\(scenario)")
        }
    }

    // MARK: What has no delegate's completion, or another server

    /// Apple, URLSession.dataTask(with:completionHandler:): the response and the data go to the handler and not to the
    /// delegate, which is told of challenges, redirects and metrics.
    @Test(arguments: BothVersions.all) func aHandlerTakesThePlaceOfWhatItIsGiven(_ version: String) async throws {
        let recorder = CompletionOrderRecorder(OrderRecorder.Answers())
        try await BothVersions.withServer(version, { try OrderServer.answer($0, Signal()) }, delegate: recorder) {
            session, server in
            let request = try BothVersions.request(server, "/redirect")
            await withCheckedContinuation { continuation in
                session.dataTask(with: request) { _, _, _ in
                    recorder.events.append("handler")
                    continuation.resume()
                }.resume()
            }
            #expect(recorder.events.snapshot == ["created", "redirect", "metrics", "handler"])
        }
    }

    /// Apple, URLSession.data(for:delegate:): as with a handler. The session has no delegate, so that the challenge of the
    /// server's trust is the task's.
    @Test(arguments: BothVersions.all) func anAwaitingCallerTakesThatPlaceToo(_ version: String) async throws {
        let recorder = CompletionOrderRecorder(OrderRecorder.Answers())
        try await BothVersions.withServer(version, { try OrderServer.answer($0, Signal()) }) { session, server in
            let request = try BothVersions.request(server, "/redirect")
            _ = try await session.data(for: request, delegate: recorder)
            let events = await recorder.events(upTo: "metrics")
            #expect(events == ["created", "challenge", "redirect", "metrics"])
        }
    }

    /// Apple, urlSession(_:task:didReceive:completionHandler:): a proxy's 407 (RFC 9110 §15.5.8) is a challenge of the
    /// task, like a server's 401.
    @Test func aProxysChallengeComesBeforeTheResponse() async throws {
        let proxy = try LoopbackServer { request in
            guard request.fields[name: "Proxy-Authorization"] == nil else { return .text("in") }
            return ServerResponse.text("no", status: 407).adding("Proxy-Authenticate", "Basic realm=\"r\"")
        }
        defer { proxy.stop() }
        var answers = OrderRecorder.Answers()
        answers.credential = OrderServer.credential
        let recorder = CompletionOrderRecorder(answers)
        let session = makeSession(delegate: recorder) {
            $0.urlCache = nil
            $0.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.address.port ?? 0),
            ]
            $0.appTransportSecurity.allowsArbitraryLoads = true
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            session.dataTask(with: try #require(URL(string: "http://h.example/"))).resume()
            let events = await recorder.events(upTo: "complete")
            #expect(events == ["created", "challenge", "response", "data", "metrics", "complete ok"])
        }
    }

    /// Apple, URLProtocol: what a program's own class loads is told like anything else.
    @Test func aCustomScheme() async throws {
        final class Greeting: URLProtocolHandler, @unchecked Sendable {  // as its superclass
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "greeting" }

            override func load(_ load: LoadContext) async throws {
                try await load.receive(
                    URLResponse(
                        url: load.url, mimeType: "text/plain", expectedContentLength: -1, textEncodingName: "utf-8"))
                try await load.receive(Data("hello".utf8))
            }
        }
        let recorder = CompletionOrderRecorder(OrderRecorder.Answers())
        let session = makeSession(delegate: recorder) { $0.protocolClasses = [Greeting.self] }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            session.dataTask(with: try #require(URL(string: "greeting://anyone"))).resume()
            let events = await recorder.events(upTo: "complete")
            #expect(events == ["created", "response", "data", "metrics", "complete ok"])
        }
    }

    /// Apple, URLError.cannotConnectToHost.
    @Test func aRefusedConnection() async throws {
        let recorder = CompletionOrderRecorder(OrderRecorder.Answers())
        let session = makeSession(delegate: recorder)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            // Nobody listens on the port of tcpmux; one that was just let go could be given to another test.
            session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1/"))).resume()
            #expect(await recorder.events(upTo: "complete") == ["created", "metrics", "complete -1004"])
        }
    }

    /// Apple, urlSession(_:didCreateTask:): called on the thread that makes the task, before it is returned; what is done
    /// there to the task holds, for an asynchronous caller's too.
    @Test func aTaskCanBeConfiguredWhereItsCreationIsTold() async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let threads = Box<[Bool]>([])
        let caller = Box<UInt>(0)
        var answers = OrderRecorder.Answers()
        answers.onEvent = { event, task in
            guard event == "created" else { return }
            threads.update { $0.append(UInt(bitPattern: pthread_self().hashValue) == caller.value) }
            task.taskDescription = "configured"
            task.resume()
        }
        let recorder = CompletionOrderRecorder(answers)
        let session = makeSession(delegate: recorder)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let url = try #require(URL(string: server.url("/hello")))
            let make = {
                caller.value = UInt(bitPattern: pthread_self().hashValue)
                return session.dataTask(with: url)
            }
            let task = make()
            #expect(task.taskDescription == "configured" && task.state != .suspended && threads.value == [true])
            _ = await recorder.events(upTo: "complete")
            let (data, _) = try await session.data(from: url)
            #expect(data == Data("/hello".utf8))
        }
    }
}
