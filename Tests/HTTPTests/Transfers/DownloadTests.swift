import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

@Suite struct DownloadTests {
    @Test(arguments: BothVersions.all) func theDelegateGetsAPrivateFileThatIsDeletedAfterwards(
        _ version: String
    ) async throws {
        let body = RangedResource.bytes(3_000_000)
        let resource = RangedResource(body)
        let recorder = TransferRecorder()
        try await BothVersions.withServer(version, { resource.answer($0) }, delegate: recorder) { session, server in
            let task = session.downloadTask(with: try BothVersions.request(server, "/"))
            task.resume()
            #expect(await recorder.all() == ["file", "metrics", "complete ok"])
            let isSame = recorder.files.snapshot == [Data(body)]
            #expect(isSame)
            let location = try #require(recorder.locations.snapshot.first)
            #expect(!FileManager.default.fileExists(atPath: location.path))
            let written = recorder.written.snapshot
            #expect(written.map { $0[0] }.reduce(0, +) == 3_000_000)
            #expect(written.last?[1] == 3_000_000)
            #expect(written.allSatisfy { $0[2] == 3_000_000 })
            #expect(task.countOfBytesReceived == 3_000_000 && task.progress.fractionCompleted == 1)
        }
    }

    @Test func theFileIsPrivateAndMayBeMoved() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let target = FileManager.default.temporaryDirectory.appendingPathComponent("LoadingKit-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: target) }
        let modes = Recorder<Int>()
        try await withTimeout {
            let url = try #require(URL(string: server.url("/")))
            let session = makeSession()
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                session.downloadTask(with: url) { location, response, error in
                    continuation.resume(
                        with: Result {
                            let location = try #require(location)
                            for path in [location.path, location.deletingLastPathComponent().path] {
                                let values = try FileManager.default.attributesOfItem(atPath: path)
                                modes.append(values[.posixPermissions] as? Int ?? -1)
                            }
                            try FileManager.default.moveItem(at: location, to: target)
                        })
                }.resume()
            }
            #expect(modes.snapshot == [0o600, 0o700])
            #expect(try Data(contentsOf: target) == Data("hello".utf8))
        }
    }

    /// Apple, downloadTask(with:completionHandler:): the task bypasses the delegate's methods for the data. It is
    /// counted all the same.
    @Test func aCompletionHandlerTakesTheDelegatesPlace() async throws {
        let resource = RangedResource(RangedResource.bytes(3_000_000))
        let recorder = TransferRecorder()
        try await BothVersions.withServer("http/1.1", { resource.answer($0) }, delegate: recorder) { session, server in
            let ends = Recorder<Data?>()
            let end: @Sendable (URL?, URLResponse?, (any Error)?) -> Void = { _, _, error in
                ends.append((error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
            }
            resource.change { $0.breaksAfter = 900_000 }
            session.downloadTask(with: try BothVersions.request(server, "/"), completionHandler: end).resume()
            let first = await ends.count(reaches: 1)
            let data = try #require(first.compactMap { $0 }.first)
            resource.change { $0.breaksAfter = nil }
            let task = session.downloadTask(withResumeData: data, completionHandler: end)
            task.resume()
            await ends.count(reaches: 2)
            #expect(recorder.events.snapshot == ["metrics", "metrics"] && recorder.written.count == 0)
            #expect(task.countOfBytesReceived == 3_000_000 && task.progress.fractionCompleted == 1)
        }
    }

    @Test func anAsynchronousCallerKeepsTheFile() async throws {
        let server = try LoopbackServer { request in request.path == "/empty" ? ServerResponse() : .text("hello") }
        defer { server.stop() }
        try await withTimeout {
            for (path, body) in [("/", "hello"), ("/empty", "")] {
                let (location, response) = try await makeSession().download(
                    from: try #require(URL(string: server.url(path))))
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
                #expect(try String(contentsOf: location, encoding: .utf8) == body)
                try FileManager.default.removeItem(at: location)
            }
        }
    }

    @Test func everySchemeCanBeDownloaded() async throws {
        try await withTimeout {
            let url = try #require(URL(string: "data:text/plain,hello"))
            let (location, response) = try await makeSession().download(from: url)
            #expect(response.mimeType == "text/plain")
            #expect(try String(contentsOf: location, encoding: .utf8) == "hello")
            try FileManager.default.removeItem(at: location)
        }
    }

    @Test func aDataTaskBecomesADownload() async throws {
        let resource = RangedResource(RangedResource.bytes(500_000))
        let recorder = TransferRecorder(disposition: .becomeDownload)
        try await BothVersions.withServer("http/1.1", { resource.answer($0) }, delegate: recorder) { session, server in
            let task = session.dataTask(with: try BothVersions.request(server, "/"))
            task.resume()
            #expect(await recorder.all() == ["response", "become true", "file", "metrics", "complete ok"])
            let isSame = recorder.files.snapshot == [Data(RangedResource.bytes(500_000))]
            #expect(isSame)
            #expect(task.state == .completed)
        }
    }

    /// Nothing is stored: the session's own response has ended before the delegate's answer.
    @Test func aResponseThatHasEndedBecomesADownload() async throws {
        let recorder = TransferRecorder(disposition: .becomeDownload)
        try await BothVersions.withServer("http/1.1", { _ in .text("body") }, delegate: recorder) { session, server in
            var request = try BothVersions.request(server, "/")
            request.setValue("only-if-cached", forHTTPHeaderField: "Cache-Control")
            session.dataTask(with: request).resume()
            #expect(await recorder.all() == ["response", "become true", "file", "metrics", "complete ok"])
            #expect(recorder.files.snapshot == [Data()])
        }
    }

    @Test func aFailedDownloadLeavesNoFile() async throws {
        let resource = RangedResource(RangedResource.bytes(500_000))
        resource.change {
            $0.breaksAfter = 200_000
            $0.entityTag = nil
        }
        let server = try LoopbackServer { resource.answer($0) }
        defer { server.stop() }
        let recorder = TransferRecorder()
        let session = makeSession(delegate: recorder)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            session.downloadTask(with: try #require(URL(string: server.url("/")))).resume()
            #expect(await recorder.all() == ["metrics", "complete \(URLError.networkConnectionLost.rawValue)"])
            // Without a validator there is nothing to resume from.
            #expect(recorder.errors.snapshot.first?.userInfo[NSURLSessionDownloadTaskResumeData] == nil)
        }
    }

    @Test func aTaskThatIsNotResumedGivesNoResumeData() async throws {
        try await withTimeout {
            let task = makeSession().downloadTask(with: URL(fileURLWithPath: "/"))
            #expect(await task.cancelByProducingResumeData() == nil)
            #expect(await task.cancelByProducingResumeData() == nil)
        }
    }
}
