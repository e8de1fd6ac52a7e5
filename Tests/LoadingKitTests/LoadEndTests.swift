import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import Synchronization
import TestSupport
import Testing

/// What a handler is told of its load's end, and of its session.
@Suite(.timeLimit(.minutes(5))) struct LoadEndTests {
    /// Keeps how loads end; several may be behind one another.
    private final class Observer: LoadInterceptor {
        let runsOnSessionExecutor: Bool
        let ends = Recorder<String>()
        let identities = Mutex<[SessionIdentity]>([])

        init(isOnLoop: Bool) { runsOnSessionExecutor = isOnLoop }

        func load(_ load: LoadContext) async throws {
            identities.withLock { $0.append(load.sessionIdentity) }
            do {
                try await load.receive(load.next.load(load.request, redirects: .returned))
            } catch {
                ends.append(Self.text(await load.ending()))
                throw error
            }
        }

        private static func text(_ end: LoadEnd?) -> String {
            switch end {
            case nil: "going on"
            case .failed(let error): "failed \((error as? URLError)?.code.rawValue ?? 0)"
            case let end?: "\(end)"
            }
        }
    }

    /// What a program does to a load.
    enum Deed: String, CaseIterable, Sendable {
        case cancelsTheTask, cancelsTheCaller, invalidates, waitsTooLong, isRedirected, losesTheConnection
    }

    /// Where the interceptors run, and what stands between the session and them.
    enum Place: CaseIterable, Sendable {
        case onPool, onLoop, behindAdapter
    }

    private struct Unchanged: LoadAdapter {
        func adapt(_ request: URLRequest) -> URLRequest { request }
    }

    @Test(arguments: Deed.allCases, Place.allCases)
    func loadsEnd(_ deed: Deed, _ place: Place) async throws {
        let arrived = Signal()
        let server = try LoopbackServer { request in
            switch request.path {
            case "/redirect": return .redirect(to: "/")
            case "/lost": try request.exchange.closeAbruptly()
            case "/held":
                arrived.fire()
                try request.exchange.waitUntilClientCloses()
            default: break
            }
            return .text("")
        }
        defer { server.stop() }
        let observers = [Observer(isOnLoop: place != .onPool), Observer(isOnLoop: place != .onPool)]
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors = (place == .behindAdapter ? [Unchanged()] : []) + observers
        if deed == .waitsTooLong { configuration.timeoutIntervalForResource = 0.2 }
        let session = URLSession(configuration: configuration)
        let path = [.isRedirected: "/redirect", .losesTheConnection: "/lost"][deed] ?? "/held"
        let url = try #require(URL(string: server.url(path)))
        let expected: String
        switch deed {
        case .cancelsTheTask:
            expected = "cancelled"
            let task = session.dataTask(with: url)
            task.resume()
            await arrived.wait()
            task.cancel()
        case .cancelsTheCaller:
            expected = "cancelled"
            let caller = Task { try await session.data(from: url) }
            await arrived.wait()
            caller.cancel()
            _ = await caller.result
        case .invalidates:
            expected = "sessionInvalidated"
            let caller = Task { try await session.data(from: url) }
            await arrived.wait()
            session.invalidateAndCancel()
            _ = await caller.result
        case .waitsTooLong:
            expected = "failed -1001"
            // On a busy machine the time may be over before the load has come to the observers.
            repeat {
                await #expect(throws: URLError.self) { try await session.data(from: url) }
            } while !arrived.hasFired
        case .isRedirected:
            expected = "replaced"
            _ = try await session.data(from: url)
        case .losesTheConnection:
            // The error comes from the handler, and is thrown by `next`.
            expected = "going on"
            await #expect(throws: URLError.self) { try await session.data(from: url) }
        }
        #expect(Set(await observers[0].ends.count(reaches: 1)) == [expected])
        // The one behind has handed over the whole response by then.
        if deed != .isRedirected { #expect(Set(await observers[1].ends.count(reaches: 1)) == [expected]) }
        session.invalidateAndCancel()
    }

    /// Forwards a second request in a task of its own, which goes on after the load's end.
    private final class TwiceForwarder: LoadInterceptor {
        let secondArrived = Signal()
        let ends = Recorder<String>()

        func load(_ load: LoadContext) async throws {
            var second = load.request
            second.url = load.url.appendingPathComponent("second")
            Task { [second, ends] in
                do {
                    _ = try await load.next.load(second)
                    ends.append("response")
                } catch {
                    ends.append("\(type(of: error))")
                }
            }
            await secondArrived.wait()
            try await load.receive(load.next.load(load.request))
        }
    }

    /// A forwarded load without a response ends with the load that forwarded it, which can decide about nothing any
    /// longer, and so does its connection.
    @Test(arguments: [false, true])
    func aForwardedLoadWithoutResponseEnds(redirectsLate: Bool) async throws {
        let isOver = Signal()
        let interceptor = TwiceForwarder()
        let server = try LoopbackServer { request in
            guard request.path == "/second" else { return .text("first") }
            interceptor.secondArrived.fire()
            if redirectsLate {
                try request.exchange.wait(for: isOver)
            } else {
                try request.exchange.waitUntilClientCloses()
            }
            return .redirect(to: "/")
        }
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors = [interceptor]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: server.url()))
        try await withTimeout {
            let (data, _) = try await session.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == "first")
            isOver.fire()
            #expect(await interceptor.ends.count(reaches: 1) == ["CancellationError"])
            await server.endings.count(reaches: 1)
        }
    }

    @Test func identitiesAreThoseOfSessions() async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let observer = Observer(isOnLoop: true)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors = [observer]
        for _ in 0..<3 {
            let session = URLSession(configuration: configuration)
            for path in ["/a", "/b"] { _ = try await session.data(from: #require(URL(string: server.url(path)))) }
            session.invalidateAndCancel()
        }
        let identities = observer.identities.withLock { $0 }
        try #require(identities.count == 6)
        #expect(Set(identities).count == 3)
        #expect(identities[0] == identities[1] && identities[2] == identities[3] && identities[4] == identities[5])
    }
}
