import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// `URLSessionTask.progress`: what it counts, what it is a part of, and what is done to the task by it.
@Suite(.timeLimit(.minutes(5))) struct ProgressTests {
    /// Half of ten bytes, and the rest when the test says so; their number is said where the path wants it.
    private static func route(_ release: Signal) -> LoopbackServer.Route {
        { request in
            let framing: ServerResponse.StreamFraming = request.path.contains("known") ? .length(10) : .chunked
            guard request.path != "/empty" else { return ServerResponse(204) }
            guard request.path != "/nothing" else { return .text("") }
            return .stream(framing) { writer in
                try writer.write("first")
                try writer.wait(for: release)
                try writer.write("after")
            }
        }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var path = "/known"
        var body: Data?
        var isStream = false
        var expects: (send: Int64, receive: Int64) = (-1, -1)
        /// Completed and total units before the task is resumed, in the middle of the response, and at the end.
        let before: [Int64], middle: [Int64], end: [Int64]
    }

    static let cases = [
        Case(testDescription: "a known length", before: [0, -1], middle: [5, 10], end: [10, 10]),
        Case(testDescription: "an unknown length", path: "/other", before: [0, -1], middle: [5, -1], end: [10, 10]),
        Case(
            testDescription: "a guess", path: "/other", expects: (-1, 20), before: [0, 20], middle: [5, 20],
            end: [10, 10]),
        Case(
            testDescription: "a guess that is too small", path: "/other", expects: (-1, 2), before: [0, 2],
            middle: [4, 5], end: [10, 10]),
        Case(
            testDescription: "a guess of what is known", expects: (-1, 20), before: [0, 20], middle: [5, 10],
            end: [10, 10]),
        Case(
            testDescription: "an upload", body: Data(count: 100), before: [0, 100], middle: [105, 110], end: [110, 110]),
        Case(
            testDescription: "an upload with guesses", body: Data(count: 100), expects: (7, 50), before: [0, 150],
            middle: [105, 110], end: [110, 110]),
        Case(
            testDescription: "a stream", body: Data(count: 100), isStream: true, before: [0, -1], middle: [105, 110],
            end: [110, 110]),
        Case(
            testDescription: "a stream with a guess", body: Data(count: 100), isStream: true, expects: (200, -1),
            before: [0, 200], middle: [105, 110], end: [110, 110]),
        Case(testDescription: "an empty response", path: "/empty", before: [0, -1], middle: [], end: [1, 1]),
        Case(
            testDescription: "an empty response, and a guess", path: "/empty", expects: (-1, 20), before: [0, 20],
            middle: [], end: [1, 1]),
        Case(
            testDescription: "a response of length 0, and a guess", path: "/nothing", expects: (-1, 20),
            before: [0, 20], middle: [], end: [1, 1]),
        Case(
            testDescription: "a guess of nothing", path: "/nothing", expects: (-1, 0), before: [0, -1], middle: [],
            end: [1, 1]),
    ]

    @Test(arguments: cases) func counts(_ test: Case) async throws {
        let release = Signal()
        let recorder = TransferRecorder(streams: [{ InputStream(data: test.body ?? Data()) }])
        let server = try LoopbackServer(route: Self.route(release))
        defer { server.stop() }
        try await withTimeout {
            defer { release.fire() }
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let request = try BothVersions.request(server, test.path, test.body == nil ? "GET" : "PUT")
            let task =
                test.isStream
                ? session.uploadTask(withStreamedRequest: request)
                : test.body.map { session.uploadTask(with: request, from: $0) } ?? session.dataTask(with: request)
            (task.countOfBytesClientExpectsToSend, task.countOfBytesClientExpectsToReceive) = test.expects
            let progress = task.progress
            let units = { [progress.completedUnitCount, progress.totalUnitCount] }
            #expect(units() == test.before && progress.isPausable && progress.isCancellable)
            task.resume()
            if !test.middle.isEmpty {
                _ = await recorder.events.contents { $0.contains("data") }
                #expect(units() == test.middle)
                #expect(progress.isIndeterminate == (test.middle[1] < 0))
            }
            release.fire()
            _ = await recorder.all()
            #expect(units() == test.end && progress.isFinished && progress.fractionCompleted == 1)
        }
    }

    /// A parent goes on as its children do, in the shares that it gave them.
    @Test func children() async throws {
        let release = Signal()
        let server = try LoopbackServer(route: Self.route(release))
        defer { server.stop() }
        try await withTimeout {
            defer { release.fire() }
            let (first, second) = (TransferRecorder(), TransferRecorder())
            let session = makeSession()
            defer { session.invalidateAndCancel() }
            let parent = Progress(totalUnitCount: 100)
            let download = session.downloadTask(with: try BothVersions.request(server, "/known"))
            let data = session.dataTask(with: try BothVersions.request(server, "/known/2"))
            (download.delegate, data.delegate) = (first, second)
            parent.addChild(download.progress, withPendingUnitCount: 80)
            parent.addChild(data.progress, withPendingUnitCount: 20)
            let kind = download.progress.userInfo[.fileOperationKindKey] as? Progress.FileOperationKind
            #expect(kind == .downloading && download.progress.kind == .file)
            #expect(parent.fractionCompleted == 0)
            data.resume()
            _ = await second.events.contents { $0.contains("data") }
            #expect(abs(parent.fractionCompleted - 0.1) < 0.001)
            release.fire()
            _ = await second.all()
            #expect(abs(parent.fractionCompleted - 0.2) < 0.001 && parent.completedUnitCount == 20)
            download.resume()
            _ = await first.all()
            #expect(parent.isFinished && parent.completedUnitCount == 100)
        }
    }

    /// A progress that was finished before its task would no longer be cancelled by its parent, and be counted twice.
    @Test func anUploadThatIsSentIsNotFinished() async throws {
        let peer = try ScriptedPeer([.expectRequest, .hold])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let task = session.uploadTask(with: peer.request(method: "PUT"), from: Data(count: 100))
            let parent = Progress(totalUnitCount: 10)
            parent.addChild(task.progress, withPendingUnitCount: 10)
            task.resume()
            _ = await recorder.events.contents { $0.contains("sent 100 of 100") }
            #expect(task.progress.completedUnitCount == 99 && task.progress.totalUnitCount == 100)
            #expect(!parent.isFinished)
            parent.cancel()
            #expect(await recorder.all().last == "complete -999")
            #expect(parent.completedUnitCount == 0)
        }
    }

    /// The last of several changes counts, whichever thread writes it.
    @Test func changesOnSeveralThreads() async throws {
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        try await withTimeout {
            for _ in 0..<50 {
                let task = session.dataTask(with: url)
                let progress = task.progress
                await withTaskGroup(of: Void.self) { group in
                    for number in 1...4 as ClosedRange<Int64> {
                        group.addTask {
                            for round in 0..<25 {
                                task.countOfBytesClientExpectsToReceive = number * 100 + Int64(round)
                            }
                        }
                    }
                }
                #expect(progress.totalUnitCount == task.countOfBytesClientExpectsToReceive)
            }
        }
    }

    /// A program adds the progress to another one itself.
    @Test func aProgressIsNoPartOfTheCurrentOne() throws {
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1/")))
        let parent = Progress(totalUnitCount: 1)
        parent.becomeCurrent(withPendingUnitCount: 1)
        let progress = task.progress
        parent.resignCurrent()
        // Without a child, Foundation counts the pending units as completed.
        #expect(parent.isFinished && progress.isIndeterminate)
    }

    @Test func aParentHoldsBackAndCancelsItsChildren() async throws {
        let release = Signal()
        let server = try LoopbackServer(route: Self.route(release))
        defer { server.stop() }
        try await withTimeout {
            defer { release.fire() }
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: try BothVersions.request(server, "/known"))
            let parent = Progress(totalUnitCount: 1)
            parent.addChild(task.progress, withPendingUnitCount: 1)
            task.resume()
            _ = await recorder.events.contents { $0.contains("data") }
            // Foundation tells of these on a thread of its own.
            parent.pause()
            try await waitUntil { task.state == .suspended }
            parent.resume()
            try await waitUntil { task.state == .running }
            parent.cancel()
            #expect(await recorder.all().last == "complete -999")
            #expect(!parent.isFinished && task.progress.isCancelled)
        }
    }

    /// A progress that is paused by itself and by its parent is one suspension.
    @Test func pausesAreNotCounted() async throws {
        try await withTimeout {
            let task = URLSessionTask()
            let progress = task.progress
            let parent = Progress(totalUnitCount: 1)
            parent.addChild(progress, withPendingUnitCount: 1)
            task.resume()
            progress.pause()
            try await waitUntil { task.state == .suspended }
            parent.pause()
            parent.resume()
            try await waitUntil { task.state == .running }
        }
    }

    /// The pause is one suspension among others, and ends with the last one. The progress's handlers, which Foundation
    /// calls later, change nothing.
    @Test func aTaskThatIsResumedHasNoPausedProgress() async throws {
        try await withTimeout {
            let task = URLSessionTask()
            let progress = task.progress
            task.resume()
            for _ in 0..<20 {
                progress.pause()
                try await waitUntil { task.state == .suspended }
                task.suspend()
                task.resume()
                #expect(progress.isPaused && task.state == .suspended)
                task.resume()
                #expect(!progress.isPaused && task.state == .running)
            }
        }
    }

    /// Pauses the task's progress; the test answers.
    private final class Pausing: TransferRecorder, @unchecked Sendable {  // constants
        let answers = Recorder<@Sendable (URLSession.ResponseDisposition) -> Void>()

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            dataTask.progress.pause()
            answers.append(completionHandler)
        }
    }

    /// The task in place of another one has the other's pause, and no second one; nor one that the program has ended by
    /// `resume()`.
    @Test(arguments: [false, true]) func aPausedTaskThatBecomesAnotherIsResumed(before: Bool) async throws {
        let release = Signal()
        release.fire()
        let server = try LoopbackServer(route: Self.route(release))
        defer { server.stop() }
        try await withTimeout {
            let recorder = Pausing(disposition: .becomeDownload)
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: try BothVersions.request(server, "/known"))
            task.resume()
            let answer = await recorder.answers.element(at: 0)
            try await waitUntil { task.state == .suspended }
            if before { task.resume() }
            answer?(.becomeDownload)
            if !before {
                try await waitUntil { task.state == .completed }
                // The download has the progress by then.
                _ = await session.allTasks
                task.progress.resume()
            }
            #expect(await recorder.all().last == "complete ok")
        }
    }

    /// The object that replaces a task has its progress, and is controlled by it.
    @Test(arguments: [URLSession.ResponseDisposition.becomeDownload, .becomeStream])
    func aTaskThatBecomesAnother(_ disposition: URLSession.ResponseDisposition) async throws {
        try await withTimeout {
            for isCancelled in [false, true] {
                let release = Signal()
                let server = try LoopbackServer(route: Self.route(release))
                defer {
                    release.fire()
                    server.stop()
                }
                let recorder = TransferRecorder(disposition: disposition)
                let session = makeSession(delegate: recorder)
                defer { session.invalidateAndCancel() }
                let task = session.dataTask(with: try BothVersions.request(server, "/known"))
                let progress = task.progress
                task.resume()
                _ = await recorder.events.contents { $0.contains { $0.hasPrefix("become") } }
                if isCancelled {
                    progress.cancel()
                    #expect(await recorder.all().last == "complete -999")
                    continue
                }
                release.fire()
                let streams = recorder.streamTasks.snapshot
                for stream in streams { _ = try await stream.readData(ofMinLength: 20, maxLength: 20, timeout: 0) }
                #expect(await recorder.all().last == "complete ok")
                #expect(progress.isFinished && progress.completedUnitCount == 10)
            }
        }
    }
}
