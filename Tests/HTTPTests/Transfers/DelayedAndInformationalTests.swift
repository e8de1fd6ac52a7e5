import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@Suite struct DelayedAndInformationalTests {
    @Test func aDelayedTaskAsksBeforeItBegins() async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let other = try BothVersions.request(server, "/other")
        for (answer, request, events) in [
            (
                URLSession.DelayedRequestDisposition.continueLoading, nil,
                ["response", "data", "metrics", "complete ok"]
            ),
            (.useNewRequest, other, ["response", "data", "metrics", "complete ok"]),
            (.cancel, nil, ["metrics", "complete -999"]),
        ] {
            try await withTimeout {
                let delegate = TransferRecorder(delayed: answer, request)
                let session = makeSession(delegate: delegate)
                defer { session.invalidateAndCancel() }
                let task = session.dataTask(with: try BothVersions.request(server, "/first"))
                let date = Date(timeIntervalSinceNow: 0.05)
                task.earliestBeginDate = date
                task.resume()
                #expect(await delegate.all() == ["delayed /first"] + events)
                #expect(Date() >= date)
                if request != nil { #expect(delegate.files.snapshot == [Data("/other".utf8)]) }
            }
        }
    }

    /// The clock is set while the task waits. A machine that wakes up finds its clock later, too, but not its timers.
    @Test func aDelayedTaskBeginsByTheClockOfTheDay() async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let (time, clock) = (ManualTime(), Box(Date()))
        let loop = EventLoop(name: "delayed", time: .manual(time))
        defer { loop.stop() }
        try await withTimeout {
            let delegate = TransferRecorder()
            let session = makeSession(delegate: delegate, on: loop) {
                $0.settings.wallClock = WallClock { clock.value }
            }
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: try BothVersions.request(server, "/first"))
            task.earliestBeginDate = clock.value.addingTimeInterval(86_400)
            task.resume()
            await withCheckedContinuation { done in loop.execute { done.resume() } }
            time.advance(by: .seconds(86_400))
            await withCheckedContinuation { done in loop.execute { done.resume() } }
            #expect(delegate.events.snapshot.isEmpty)
            clock.update { $0.addTimeInterval(86_400) }
            time.advance(by: .seconds(60))
            #expect(await delegate.all() == ["delayed /first", "response", "data", "metrics", "complete ok"])
        }
    }

    /// The body is the task's, whichever request it is sent with.
    @Test func aNewRequestOfADelayedUploadHasItsBody() async throws {
        let server = try LoopbackServer { .text("\($0.path) \($0.bodyText)") }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = try folder.write("body", to: "file")
        for (body, sent) in [(nil, "body"), (Data("another".utf8), "another")] as [(Data?, String)] {
            for isFile in [true, false] {
                try await withTimeout {
                    let other = try BothVersions.request(server, "/other", "PUT", body: body)
                    let delegate = TransferRecorder(delayed: .useNewRequest, other)
                    let session = makeSession(delegate: delegate)
                    defer { session.invalidateAndCancel() }
                    let request = try BothVersions.request(server, "/first", "PUT")
                    let task =
                        isFile
                        ? session.uploadTask(with: request, fromFile: file)
                        : session.uploadTask(with: request, from: Data("body".utf8))
                    task.earliestBeginDate = Date(timeIntervalSinceNow: 0.01)
                    task.resume()
                    #expect(await delegate.all().last == "complete ok")
                    let received = delegate.files.snapshot.map { String(decoding: $0, as: UTF8.self) }.joined()
                    #expect(received == "/other \(sent)")
                }
            }
        }
    }

    @Test(arguments: BothVersions.all) func informationalResponsesAreTold(_ version: String) async throws {
        let delegate = TransferRecorder()
        let route: LoopbackServer.Route = { _ in
            var response = ServerResponse.text("done")
            var early = ServerResponse.Interim(103)
            early.fields.append(name: "Link", value: "</style.css>; rel=preload")
            response.interim = [ServerResponse.Interim(102), early]
            return response
        }
        try await BothVersions.withServer(version, route, delegate: delegate) { session, server in
            session.dataTask(with: try BothVersions.request(server, "/")).resume()
            let events = await delegate.all()
            #expect(
                events == [
                    "informational 102 ", "informational 103 </style.css>; rel=preload", "response", "data", "metrics",
                    "complete ok",
                ])
        }
    }

    /// Is busy with the first one until the signal fires.
    private final class Busy: TransferRecorder, @unchecked Sendable {  // constants
        let isReleased = Signal()

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
        ) {
            isReleased.waitBlocking()
            super.urlSession(session, task: task, didReceiveInformationalResponse: response)
        }
    }

    /// Fires the signal when the final response has come.
    private struct Announcing: LoadInterceptor {
        let hasResponse: Signal

        func load(_ load: LoadContext) async throws {
            defer { hasResponse.fire() }
            let response = try await load.next.load(load.request)
            hasResponse.fire()
            try await load.receive(response)
        }
    }

    /// The server may send that many: the body has earned them.
    @Test(arguments: BothVersions.all) func aBusyDelegateIsToldOfSomeAlone(_ version: String) async throws {
        let delegate = Busy()
        let route: LoopbackServer.Route = { _ in
            var response = ServerResponse.text("done")
            response.interim = Array(repeating: ServerResponse.Interim(103), count: 100)
            return response
        }
        try await BothVersions.withServer(
            version, route, delegate: delegate, { $0.interceptors = [Announcing(hasResponse: delegate.isReleased)] }
        ) { session, server in
            let request = try BothVersions.request(server, "/", "POST")
            session.uploadTask(with: request, from: Data(count: 400_000)).resume()
            let events = await delegate.all()
            #expect(events.count { $0.hasPrefix("informational 103") } == 64)
            #expect(events.contains("response") && events.last == "complete ok")
        }
    }
}
