import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKit
@testable import LoadingKitCore
@testable import LoadingKitTransport

/// Tasks that wait for a network.
@Suite struct NetworkWaitTests {
    /// Returns when the sessions of a loop have been told of a change of the networks.
    private static func reportChange(on loop: EventLoop) async {
        await withCheckedContinuation { continuation in
            loop.execute {
                NetworkMonitor.of(loop).report()
                continuation.resume()
            }
        }
    }

    /// - Parameter answer: gives the answer to each lookup of IPv4 addresses, by its number from 1.
    private static func resolver(
        _ time: ManualTime, _ lookups: Recorder<Int>,
        _ answer: @escaping @Sendable (Int) -> Resolver.Answer = { _ in .success([.loopback4]) }
    ) -> Resolver {
        Resolver(
            time: .manual(time),
            lookup: { _, family in
                guard family == .v4 else { return .failure(.notFound("no address")) }
                lookups.append(1)
                return answer(lookups.count)
            })
    }

    /// The networks change during the attempt that fails, and not again.
    @Test(arguments: [URLError.Code.notConnectedToInternet, .dnsLookupFailed])
    func aChangeDuringTheAttemptIsNotMissed(_ code: URLError.Code) async throws {
        let attempts = Recorder<Int>()
        // A loop of its own, as a loop's sessions share what reports changes.
        let loop = EventLoop(name: "networks")
        defer { loop.stop() }
        let session = makeSession(on: loop) {
            $0.waitsForConnectivity = true
            $0.register(scheme: "late") { load in
                attempts.append(1)
                if attempts.count == 1 {
                    await Self.reportChange(on: loop)
                    throw URLError(code)
                }
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
            }
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let url = try #require(URL(string: "late:"))
            _ = try await session.data(from: url)
            #expect(attempts.count == 2)
        }
    }

    /// On some machines the networks change all the time.
    @Test func changesDoNotPutOffTheRetry() async throws {
        let attempts = Recorder<Int>()
        let time = ManualTime()
        let loop = EventLoop(name: "restless", time: .manual(time))
        defer { loop.stop() }
        let waiting = Waiting()
        let session = makeSession(on: loop) {
            $0.waitsForConnectivity = true
            $0.register(scheme: "late") { load in
                attempts.append(1)
                if attempts.count == 1 { throw URLError(.notConnectedToInternet) }
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
            }
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let url = try #require(URL(string: "late:"))
            async let outcome = session.outcome(URLRequest(url: url), delegate: waiting)
            await waiting.begun.wait()
            for _ in 0..<10 {
                await Self.reportChange(on: loop)
                time.advance(by: .milliseconds(50))
            }
            #expect(await outcome == .loaded(status: 0, body: ""))
            #expect(attempts.count == 2)
        }
    }

    /// Without a change a name that is not found is an error at once.
    @Test func aNameThatIsNotFoundIsNotWaitedFor() async throws {
        let attempts = Recorder<Int>()
        // Another test reports a change of the networks of its session's loop.
        let loop = EventLoop(name: "not found")
        defer { loop.stop() }
        let session = makeSession(on: loop) {
            $0.waitsForConnectivity = true
            $0.register(scheme: "late") { _ in
                attempts.append(1)
                throw URLError(.cannotFindHost)
            }
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let url = try #require(URL(string: "late:"))
            let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(error?.code == .cannotFindHost && attempts.count == 1)
        }
    }

    /// A question of the load that found no network ends with it: while it was open, the next load had no timeout.
    @Test func aQuestionEndsWithItsLoad() async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "asked", time: .manual(time))
        defer { loop.stop() }
        let (attempts, answers, delegate) = (Recorder<Int>(), Recorder<Int>(), Undecided())
        let (asked, never) = (delegate.asked, Signal())
        let session = makeSession(on: loop) {
            $0.waitsForConnectivity = true
            $0.register(scheme: "late") { load in
                attempts.append(1)
                if attempts.count > 1 {
                    await never.wait()
                    return
                }
                Task {
                    let space = URLProtectionSpace(
                        host: "late", port: 80, protocol: "http", realm: "r", authenticationMethod: nil)
                    let challenge = URLAuthenticationChallenge(
                        protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil,
                        error: nil)
                    _ = await load.challenge(challenge)
                    answers.append(1)
                }
                await asked.wait()
                await Self.reportChange(on: loop)
                throw URLError(.notConnectedToInternet)
            }
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let url = try #require(URL(string: "late:"))
            async let outcome = session.outcome(URLRequest(url: url), delegate: delegate)
            await delegate.begun.wait()
            await answers.count(reaches: 1)
            time.advance(by: .seconds(1))
            await attempts.count(reaches: 2)
            time.advance(by: .seconds(5000))
            #expect(await outcome == .failed(.timedOut))
        }
    }

    /// An answer of the former network's name server does not count, though no connection was open there.
    @Test(arguments: ["http", "ftp"]) func aNameIsLookedUpAnew(_ scheme: String) async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "moved", time: .manual(time))
        defer { loop.stop() }
        let (lookups, waiting) = (Recorder<Int>(), Waiting())
        let resolver = Self.resolver(time, lookups) { number in
            guard number == 1 else { return .success([.loopback4]) }
            loop.execute { NetworkMonitor.of(loop).report() }
            return .failure(.failed("no name server"))
        }
        let session = makeSession(on: loop) {
            $0.waitsForConnectivity = true
            $0.appTransportSecurity.allowsArbitraryLoads = true
            $0.settings.connectSubstitution = ConnectSubstitution(resolver: resolver, endpoint: { $0 })
        }
        defer { session.invalidateAndCancel() }
        let port = try RefusingPort.keepOne()
        try await withTimeout {
            let url = try #require(URL(string: "\(scheme)://a.test:\(port)/"))
            async let outcome = session.outcome(URLRequest(url: url), delegate: waiting)
            await waiting.begun.wait()
            time.advance(by: .seconds(1))
            #expect(await outcome == .failed(.cannotConnectToHost))
            #expect(lookups.count == 2)
        }
    }

    /// So is the name of a stream task, which connects without a request.
    @Test func aNameOfAStreamTaskIsLookedUpAnew() async throws {
        let peer = try ScriptedPeer([.send("a"), .hold])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "moved", time: .manual(time))
        defer { loop.stop() }
        let lookups = Recorder<Int>()
        let resolver = Self.resolver(time, lookups)
        let session = makeSession(on: loop) {
            $0.settings.connectSubstitution = ConnectSubstitution(resolver: resolver, endpoint: { $0 })
        }
        defer { session.invalidateAndCancel() }
        let port = try #require(URL(string: peer.url("/"))?.port)
        try await withTimeout {
            func connect(lookups expected: Int) async throws {
                let task = session.streamTask(withHostName: "a.test", port: port)
                task.resume()
                let (data, _) = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
                #expect(data == Data("a".utf8) && lookups.count == expected)
                task.cancel()
            }
            try await connect(lookups: 1)
            try await connect(lookups: 1)
            await Self.reportChange(on: loop)
            time.advance(by: .seconds(1))
            try await connect(lookups: 2)
        }
    }
}

/// Never answers a challenge.
private final class Undecided: NSObject, URLSessionTaskDelegate {
    let asked = Signal()
    let begun = Signal()

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) { begun.fire() }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        asked.fire()
    }
}

/// Tells when a task waits for a network.
private final class Waiting: NSObject, URLSessionTaskDelegate {
    let begun = Signal()

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) { begun.fire() }
}
