import Dispatch
import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// Schemes of a program's own that may block, that have settings, and that have a credential of their own.
@Suite struct BlockingSchemeTests {
    /// The behaviour of a scheme in a test.
    private struct Behaviour: Sendable {
        /// The names of the threads that have made a value.
        let values = Recorder<String>()
        /// Blocks, and gives whether there is a value.
        var make: @Sendable () -> Bool = { true }
        var goesOn = false
        var acceptance = HTTPAuthenticationAcceptance.unchanged
        let responses = Recorder<HTTPAuthenticationResponse>()
        var paths: [String] = []
    }

    private struct SlowScheme: HTTPAuthenticationScheme {
        static let name = "Slow"
        static let authenticationMethod = "SlowMethod"
        static let mayBlock = true
        static var defaultCredential: URLCredential? { URLCredential(user: "", password: "", persistence: .forSession) }

        let behaviour: Behaviour
        let realm: String? = nil
        let strength = 100
        private var count = 0

        init(_ behaviour: Behaviour) { self.behaviour = behaviour }

        init?(_ challenge: HTTPAuthenticationChallenge) { nil }

        mutating func authorization(
            for request: HTTPAuthenticationRequest, with credential: URLCredential
        ) -> String? {
            behaviour.values.append(Thread.current.name ?? "")
            count += 1
            return behaviour.make() ? "Slow \(credential.user ?? "")-\(count)" : nil
        }

        func advance(after challenge: HTTPAuthenticationChallenge) -> Bool { behaviour.goesOn }

        func serverDidAccept(_ response: HTTPAuthenticationResponse) -> HTTPAuthenticationAcceptance {
            behaviour.responses.append(response)
            return behaviour.acceptance
        }

        func paths(around path: String) -> [String] { behaviour.paths }
    }

    private static let demand = ServerResponse(401).adding("WWW-Authenticate", "Basic realm=r, Slow")

    /// Lets in who has sent a value of either scheme, and records the values.
    private static func route(_ seen: Recorder<String>) -> LoopbackServer.Route {
        { request in
            let value = request.fields[.authorization]
            seen.append(value ?? "-")
            return value == nil ? demand : ServerResponse.text("in").adding("WWW-Authenticate", "Slow cHJvb2Y=")
        }
    }

    private static func install(_ behaviour: Behaviour) -> (URLSessionConfiguration) -> Void {
        { $0.register(authenticationScheme: SlowScheme.self) { _, _ in SlowScheme(behaviour) } }
    }

    /// The value is made on a thread that is no event loop's, once for each request; the scheme's own credential needs
    /// nobody, and what the server has accepted is seen.
    @Test(arguments: BothVersions.all) func valuesAreMadeElsewhere(_ version: String) async throws {
        let seen = Recorder<String>()
        var behaviour = Behaviour()
        behaviour.paths = ["/"]
        let plan = behaviour
        try await BothVersions.withServer(version, Self.route(seen), Self.install(plan)) { session, server in
            for _ in 0..<3 { #expect(await session.outcome(server, "/") == .ok("in")) }
            #expect(seen.count == 4 && seen.snapshot.dropFirst().allSatisfy { $0.hasPrefix("Slow -") })
            #expect(plan.values.snapshot.allSatisfy { $0.hasPrefix("LoadingKit-auth") }, "\(plan.values.snapshot)")
            #expect(plan.values.count == 3)
            #expect(plan.responses.snapshot.map(\.challenge?.token) == Array(repeating: "cHJvb2Y=", count: 3))
            #expect(plan.responses.snapshot.allSatisfy { $0.status == 200 && $0.parameters == nil })
        }
    }

    /// While one load waits for its value, the others of the session are answered.
    @Test(arguments: BothVersions.all) func othersDoNotWait(_ version: String) async throws {
        let release = DispatchSemaphore(value: 0)
        let seen = Recorder<String>()
        var behaviour = Behaviour()
        behaviour.make = {
            release.wait()
            return true
        }
        let plan = behaviour
        let route: LoopbackServer.Route = { request in
            if request.path == "/free" { return .text("free") }
            return try Self.route(seen)(request)
        }
        try await BothVersions.withServer(version, route, Self.install(plan)) { session, server in
            let waiting = Task { await session.outcome(server, "/") }
            _ = await plan.values.element(at: 0)
            for _ in 0..<20 { #expect(await session.outcome(server, "/free") == .ok("free")) }
            #expect(seen.snapshot == ["-"])
            release.signal()
            #expect(await waiting.value == .ok("in"))
        }
    }

    /// A load that is cancelled ends while its value is being made. Nothing is sent then.
    @Test(arguments: BothVersions.all) func theLoadIsCancelled(_ version: String) async throws {
        let release = DispatchSemaphore(value: 0)
        let seen = Recorder<String>()
        var behaviour = Behaviour()
        behaviour.make = {
            release.wait()
            return true
        }
        let plan = behaviour
        try await BothVersions.withServer(version, Self.route(seen), Self.install(plan)) { session, server in
            let waiting = Task { await session.outcome(server, "/") }
            _ = await plan.values.element(at: 0)
            waiting.cancel()
            #expect(await waiting.value == .failed(.cancelled))
            release.signal()
            // Anything that was to be sent would have been sent by now.
            var byHand = try BothVersions.request(server, "/")
            byHand.setValue("by hand", forHTTPHeaderField: "Authorization")
            #expect(await session.outcome(byHand) == .ok("in"))
            #expect(seen.snapshot == ["-", "by hand"])
        }
    }

    /// Where the scheme has no value, the next strongest has its turn, and the program is asked for that.
    @Test(arguments: BothVersions.all) func withoutAValue(_ version: String) async throws {
        let seen = Recorder<String>()
        var behaviour = Behaviour()
        behaviour.make = { false }
        let plan = behaviour
        let answerer = ChallengeAnswerer { challenge in
            let isBasic = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
            let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
            return isBasic ? (.useCredential, credential) : (.performDefaultHandling, nil)
        }
        try await BothVersions.withServer(
            version, Self.route(seen), delegate: answerer, Self.install(plan)
        ) { session, server in
            #expect(await session.outcome(server, "/") == .ok("in"))
            #expect(seen.snapshot == ["-", "Basic dTpw"])
            #expect(answerer.seen.snapshot == ["task's task: SlowMethod - 0 ", "task's task: HTTPBasic r 0 -"])
        }
    }

    /// The task that got a proxy's challenge is cancelled during the step, which then gives no value. The next task that
    /// waits for the connection gets the challenge of the other scheme.
    @Test func theNextTaskGetsTheProxysNextChallenge() async throws {
        let release = DispatchSemaphore(value: 0)
        var behaviour = Behaviour()
        behaviour.make = {
            release.wait()
            return false
        }
        let plan = behaviour
        let authority = try CertificateAuthority()
        let peer = try ScriptedPeer([
            .expectRequest, ProxyChallengeTests.refusal("Basic realm=r, Slow"), .expectRequest,
            .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(TLSServerOptions(try authority.issue())), .expectRequest,
            .respond("in"),
        ])
        defer { peer.stop() }
        let answerer = ChallengeAnswerer { challenge in
            let isBasic = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
            let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
            return isBasic ? (.useCredential, credential) : (.performDefaultHandling, nil)
        }
        let session = makeSession(delegate: answerer) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.connectionProxyDictionary = [
                "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(peer.address.port ?? 0),
            ]
            Self.install(plan)($0)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let request = try ProxyChallengeTests.request("https://localhost/")
            let first = Task { await session.outcome(request) }
            _ = await plan.values.element(at: 0)
            let second = Task { await session.outcome(request) }
            try await waitUntil { await session.statistics.requests.waiting == 2 }
            first.cancel()
            #expect(await first.value == .failed(.cancelled))
            release.signal()
            #expect(await second.value == .ok("in"))
            let requests = await peer.requestCount(reaches: 3)
            #expect(requests.map { $0[field: "Proxy-Authorization"] } == [nil, "Basic dTpw", nil])
        }
        #expect(answerer.seen.snapshot == ["task's task: SlowMethod - 0 ", "task's task: HTTPBasic r 0 -"])
    }

    /// A stream task has no idle timeout, but the step for its tunnel has a limit.
    @Test func aStreamTasksTunnelIsNotWaitedForForever() async throws {
        let release = DispatchSemaphore(value: 0)
        defer { release.signal() }
        var behaviour = Behaviour()
        behaviour.make = {
            release.wait()
            return true
        }
        let plan = behaviour
        let peer = try ScriptedPeer([.expectRequest, ProxyChallengeTests.refusal("Slow"), .hold])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        let session = makeSession(on: loop) {
            $0.timeoutIntervalForRequest = 10
            $0.connectionProxyDictionary = [
                "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(peer.address.port ?? 0),
            ]
            Self.install(plan)($0)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let task = session.streamTask(withHostName: "h.example", port: 1)
            task.resume()
            let read = Task { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) }
            _ = await plan.values.element(at: 0)
            time.advance(by: .seconds(10))
            let error = await #expect(throws: URLError.self) { try await read.value }
            #expect(error?.code == .timedOut && error?.localizedDescription.contains("authentication") == true)
        }
    }

    /// The server refuses the scheme's own credential, too.
    @Test(arguments: BothVersions.all) func theServerRefuses(_ version: String) async throws {
        let seen = Recorder<String>()
        let plan = Behaviour()
        let route: LoopbackServer.Route = { request in
            seen.append(request.fields[.authorization] ?? "-")
            return request.fields[.authorization] == "Basic dTpw" ? .text("in") : Self.demand
        }
        let answerer = ChallengeAnswerer { challenge in
            let isBasic = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
            let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
            return isBasic ? (.useCredential, credential) : (.performDefaultHandling, nil)
        }
        try await BothVersions.withServer(version, route, delegate: answerer, Self.install(plan)) { session, server in
            #expect(await session.outcome(server, "/") == .ok("in"))
            #expect(seen.snapshot == ["-", "Slow -1", "Basic dTpw"])
        }
    }

    /// A server that wants a further step each time gets ten.
    @Test(arguments: BothVersions.all) func aServerThatIsNeverContent(_ version: String) async throws {
        let seen = Recorder<String>()
        var behaviour = Behaviour()
        behaviour.goesOn = true
        let plan = behaviour
        let route: LoopbackServer.Route = { request in
            seen.append(request.fields[.authorization] ?? "-")
            return ServerResponse(401).adding("WWW-Authenticate", "Slow")
        }
        try await BothVersions.withServer(version, route, Self.install(plan)) { session, server in
            #expect(await session.outcome(server, "/") == .loaded(status: 401, body: ""))
            #expect(seen.count == 11)
        }
    }

    /// A response that the scheme does not trust is not delivered.
    @Test(arguments: BothVersions.all) func aResponseThatIsNotTrusted(_ version: String) async throws {
        var behaviour = Behaviour()
        behaviour.acceptance = .refused
        let plan = behaviour
        try await BothVersions.withServer(version, Self.route(Recorder()), Self.install(plan)) { session, server in
            #expect(await session.outcome(server, "/") == .failed(.badServerResponse))
        }
    }

    /// A scheme that was registered stays among the others, and one of the same type replaces it.
    @Test func registering() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.register(authenticationScheme: SlowScheme.self) { _, _ in nil }
        configuration.register(authenticationScheme: SlowScheme.self) { _, _ in SlowScheme(Behaviour()) }
        #expect(configuration.authenticationSchemes.count == 1)
        configuration.authenticationSchemes.append(SlowScheme.self)
        #expect(configuration.authenticationSchemes.count == 2)
        configuration.authenticationSchemes = []
        #expect(configuration.authenticationSchemes.isEmpty)
    }

    /// A challenge that the function makes nothing of is not the scheme's.
    @Test(arguments: BothVersions.all) func notForThisRequest(_ version: String) async throws {
        let requests = Recorder<HTTPAuthenticationRequest>()
        let answerer = ChallengeAnswerer("u", "p")
        try await BothVersions.withServer(
            version, Self.route(Recorder()), delegate: answerer,
            {
                $0.register(authenticationScheme: SlowScheme.self) { _, request in
                    requests.append(request)
                    return nil
                }
            }
        ) { session, server in
            #expect(await session.outcome(server, "/path") == .ok("in"))
            #expect(answerer.seen.snapshot == ["task's task: HTTPBasic r 0 -"])
            let request = try #require(requests.snapshot.first)
            #expect(request.isSecure && !request.isProxy && request.host == "localhost" && request.target == "/path")
        }
    }
}
