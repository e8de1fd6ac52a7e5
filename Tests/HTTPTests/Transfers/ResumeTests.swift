import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@Suite struct ResumeTests {
    static let body = RangedResource.bytes(2_000_000)

    /// The resume data of a broken download of the resource.
    private static func broken(
        _ session: URLSession, _ server: LoopbackServer, _ resource: RangedResource, after count: Int
    ) async throws -> Data {
        resource.change { $0.breaksAfter = count }
        defer { resource.change { $0.breaksAfter = nil } }
        do {
            _ = try await session.download(for: BothVersions.request(server, "/file"))
            throw POSIXError(.EIO)
        } catch let error as URLError {
            return try #require(error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data, "\(error)")
        }
    }

    /// Whether the download that goes on gives the resource.
    private static func isWhole(_ session: URLSession, resumeFrom data: Data) async throws -> Bool {
        let (location, _) = try await session.download(resumeFrom: data)
        defer { try? FileManager.default.removeItem(at: location) }
        return try Data(contentsOf: location) == Data(Self.body)
    }

    /// It is in this process's folder, or in that of another.
    private static func partialFile(named name: String) -> String? {
        partialFiles.first { $0.hasSuffix(name) }
    }

    private static func fileName(in resumeData: Data) throws -> String {
        let list = try PropertyListSerialization.propertyList(from: resumeData, format: nil) as? [String: Any]
        return try #require(list?["NSURLSessionResumeInfoTempFileName"] as? String)
    }

    /// The request's own fields are in the resume data, but for those that identify the user.
    @Test(arguments: BothVersions.all) func aResumedDownloadHasTheRequestsFields(_ version: String) async throws {
        let resource = RangedResource(Self.body)
        let (tokens, secrets) = (Recorder<String?>(), Recorder<String?>())
        let route: LoopbackServer.Route = { request in
            tokens.append(request.fields[name: "X-Token"])
            secrets.append(request.fields[.authorization] ?? request.fields[.cookie])
            guard request.fields[name: "X-Token"] == "token" else { return ServerResponse(403) }
            return resource.answer(request)
        }
        try await BothVersions.withServer(version, route) { session, server in
            var request = try BothVersions.request(server, "/file")
            request.setValue("token", forHTTPHeaderField: "X-Token")
            request.setValue("gzip", forHTTPHeaderField: "Accept-Encoding")
            for name in ["Authorization", "Cookie", "Proxy-Authorization"] {
                request.setValue("secret-\(name)", forHTTPHeaderField: name)
            }
            var data = Data()
            for count in [900_000, 500_000] {
                resource.change { $0.breaksAfter = count }
                let part = data
                let error = await #expect(throws: URLError.self) {
                    _ = try await part.isEmpty ? session.download(for: request) : session.download(resumeFrom: part)
                }
                data = try #require(error?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
                #expect(!String(decoding: data, as: UTF8.self).contains("secret"))
            }
            resource.change { $0.breaksAfter = nil }
            let (location, response) = try await session.download(resumeFrom: data)
            defer { try? FileManager.default.removeItem(at: location) }
            #expect((response as? HTTPURLResponse)?.statusCode == 206)
            let isSame = try Data(contentsOf: location) == Data(Self.body)
            #expect(isSame)
            #expect(tokens.snapshot == ["token", "token", "token"])
            #expect(secrets.snapshot == ["secret-Authorization", nil, nil])
        }
    }

    /// Whose name nobody has.
    @Test func aDownloadThatIsCancelledLeavesNoFile() async throws {
        let resource = RangedResource(Self.body)
        resource.change { $0.stallsAfter = 654_321 }
        for endsSession in [false, true] {
            let recorder = TransferRecorder()
            try await BothVersions.withServer("http/1.1", { resource.answer($0) }, delegate: recorder) {
                session, server in
                let task = session.downloadTask(with: try BothVersions.request(server, "/"))
                let before = Self.partialFiles
                task.resume()
                _ = await recorder.written.contents { $0.last?[1] == 654_321 }
                if endsSession { session.invalidateAndCancel() } else { task.cancel() }
                #expect(await recorder.all().last == "complete \(URLError.cancelled.rawValue)")
                #expect(recorder.errors.snapshot.first?.userInfo[NSURLSessionDownloadTaskResumeData] == nil)
                // Those of tests that run meanwhile are others.
                #expect(!Self.partialFiles.subtracting(before).contains { Self.size(of: $0) == 654_321 })
            }
        }
    }

    private static var partialFiles: Set<String> {
        let folder = NSTemporaryDirectory() + "LoadingKit-\(getuid())"
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return Set(files.map { "\(folder)/\($0)" })
    }

    private static func size(of path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    }

    /// The second of two downloads that go on from the same data begins anew, while the first uses the file or when the
    /// program has it.
    @Test func resumeDataThatIsUsedTwiceDamagesNothing() async throws {
        let resource = RangedResource(Self.body)
        try await BothVersions.withServer("http/1.1", { resource.answer($0) }) { session, server in
            let data = try await Self.broken(session, server, resource, after: 900_000)
            async let first = session.download(resumeFrom: data)
            async let second = session.download(resumeFrom: data)
            var locations = [try await first.0, try await second.0]
            locations.append(try await session.download(resumeFrom: data).0)
            #expect(Set(locations).count == 3)
            for location in locations {
                let isSame = try Data(contentsOf: location) == Data(Self.body)
                #expect(isSame)
                try FileManager.default.removeItem(at: location)
            }
        }
    }

    @Test(arguments: BothVersions.all) func aBrokenDownloadGoesOnWhereItEnded(_ version: String) async throws {
        for usesDate in [false, true] {
            let resource = RangedResource(Self.body)
            if usesDate {
                resource.change {
                    $0.entityTag = nil
                    $0.lastModified = "Sat, 21 Nov 2026 08:00:00 GMT"
                }
            }
            let recorder = TransferRecorder()
            try await BothVersions.withServer(version, { resource.answer($0) }) { session, server in
                let data = try await Self.broken(session, server, resource, after: 1_200_000)
                let task = session.downloadTask(withResumeData: data)
                task.delegate = recorder
                task.resume()
                let events = await recorder.all()
                // Over HTTP/2 the server's reset may overtake what it has sent.
                let offset = try #require(
                    version == "h2"
                        ? resource.ranges.snapshot.last.flatMap { Int($0.dropFirst(6).dropLast()) } : 1_200_000)
                #expect(events == ["resumed at \(offset) of 2000000", "file", "metrics", "complete ok"])
                let isSame = recorder.files.snapshot == [Data(Self.body)]
                #expect(isSame)
                #expect(resource.ranges.snapshot == ["", "bytes=\(offset)-"])
                #expect(task.countOfBytesReceived == 2_000_000)
            }
        }
    }

    /// The resource ends where the broken load has ended. The content of the error is not the resource's.
    @Test(arguments: BothVersions.all) func aDownloadThatIsCompleteIsNotLoadedAgain(_ version: String) async throws {
        let resource = RangedResource(Self.body)
        let recorder = TransferRecorder()
        let route: LoopbackServer.Route = { request in
            var response = resource.answer(request)
            if response.status == 416 { response.body = .bytes(Array("no such range".utf8)) }
            return response
        }
        try await BothVersions.withServer(version, route) { session, server in
            let data = try await Self.broken(session, server, resource, after: 900_000)
            let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
            // Over HTTP/2 the server's reset may overtake what it has sent.
            let count = try #require((list?["NSURLSessionResumeBytesReceived"] as? NSNumber)?.intValue)
            let whole = Array(Self.body.prefix(count))
            resource.change { $0.body = whole }
            let task = session.downloadTask(withResumeData: data)
            task.delegate = recorder
            task.resume()
            #expect(await recorder.all() == ["resumed at \(count) of \(count)", "file", "metrics", "complete ok"])
            let isSame = recorder.files.snapshot == [Data(whole)]
            #expect(isSame)
            #expect(resource.ranges.snapshot == ["", "bytes=\(count)-"])
            #expect(task.countOfBytesReceived == Int64(count))
            #expect((task.response as? HTTPURLResponse)?.statusCode == 206)
        }
    }

    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (inout RangedResource.State) -> Void
        let ranges: [String]
    }

    static let changes = [
        Change(
            testDescription: "the resource has changed", apply: { $0.entityTag = "\"two\"" }, ranges: ["bytes=900000-"]),
        Change(
            testDescription: "the server sends no ranges", apply: { $0.hasRanges = false }, ranges: ["bytes=900000-"]),
        Change(
            testDescription: "the resource is shorter", apply: { $0.body = Array(ResumeTests.body.prefix(500)) },
            ranges: ["bytes=900000-", ""]),
    ]

    @Test(arguments: changes) func aDownloadBeginsAnewWhereItCannotGoOn(_ change: Change) async throws {
        let resource = RangedResource(Self.body)
        let recorder = TransferRecorder()
        try await BothVersions.withServer("http/1.1", { resource.answer($0) }) { session, server in
            let data = try await Self.broken(session, server, resource, after: 900_000)
            resource.change(change.apply)
            let task = session.downloadTask(withResumeData: data)
            task.delegate = recorder
            task.resume()
            let count = resource.state.withLock { $0.body.count }
            #expect(await recorder.all() == ["resumed at 0 of \(count)", "file", "metrics", "complete ok"])
            let isSame = recorder.files.snapshot.last == Data(resource.state.withLock { $0.body })
            #expect(isSame)
            #expect(resource.ranges.snapshot == [""] + change.ranges)
        }
    }

    /// A server may limit the ranges that it sends, and a chunked body need not have the length of its range.
    @Test(arguments: [false, true]) func whatIsBehindAPartOfTheRestIsRequested(isRangeShort: Bool) async throws {
        let resource = RangedResource(Self.body)
        let recorder = TransferRecorder()
        try await BothVersions.withServer("http/1.1", { resource.answer($0) }) { session, server in
            let data = try await Self.broken(session, server, resource, after: 900_000)
            resource.change { if isRangeShort { $0.mostOfRange = 100_000 } else { $0.endsAfter = 100_000 } }
            let task = session.downloadTask(withResumeData: data)
            task.delegate = recorder
            task.resume()
            #expect(await recorder.all() == ["resumed at 900000 of 2000000", "file", "metrics", "complete ok"])
            let isSame = recorder.files.snapshot == [Data(Self.body)]
            #expect(isSame)
            let ranges = stride(from: 900_000, to: 2_000_000, by: 100_000).map { "bytes=\($0)-" }
            #expect(resource.ranges.snapshot == [""] + ranges)
            #expect(task.countOfBytesReceived == 2_000_000)
            #expect(task.currentRequest?.value(forHTTPHeaderField: "Range") == ranges.last)
            #expect(recorder.written.last?[1] == 2_000_000)
            #expect(recorder.written.snapshot.allSatisfy { $0[2] == 2_000_000 })
        }
    }

    /// A part of the rest that is too short or empty, and an error in place of the next part, end the download. It can
    /// be resumed with all bytes.
    @Test(
        arguments: [
            (1_000, nil, [900_000, 901_000]), (100_000, nil, [900_000, 1_000_000, 1_100_000]),
            (nil, 0, [900_000, 900_000]),
        ] as [(Int?, Int?, [Int])])
    func aPartThatIsNoneIsAnInterruption(most: Int?, ends: Int?, starts: [Int]) async throws {
        let resource = RangedResource(Self.body)
        let isLimited = Guarded(true)
        let route: LoopbackServer.Route = { request in
            if isLimited.withLock({ $0 }), resource.ranges.snapshot.count == 3 { return ServerResponse(429) }
            return resource.answer(request)
        }
        try await BothVersions.withServer("http/1.1", route) { session, server in
            let first = try await Self.broken(session, server, resource, after: 900_000)
            resource.change { ($0.mostOfRange, $0.endsAfter) = (most, ends) }
            let error = await #expect(throws: URLError.self) { _ = try await session.download(resumeFrom: first) }
            #expect(error?.code == .networkConnectionLost)
            let second = try #require(error?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
            resource.change { ($0.mostOfRange, $0.endsAfter) = (nil, nil) }
            isLimited.withLock { $0 = false }
            #expect(try await Self.isWhole(session, resumeFrom: second))
            #expect(resource.ranges.snapshot == [""] + starts.map { "bytes=\($0)-" })
        }
    }

    /// Each part is a load of its own, which may be redirected.
    @Test func partsBehindRedirects() async throws {
        let resource = RangedResource(Self.body)
        let route: LoopbackServer.Route = { request in
            request.path == "/file" ? .redirect(to: "/mirror") : resource.answer(request)
        }
        try await BothVersions.withServer("http/1.1", route) { session, server in
            let data = try await Self.broken(session, server, resource, after: 900_000)
            resource.change { $0.mostOfRange = 50_000 }
            #expect(try await Self.isWhole(session, resumeFrom: data))
            #expect(resource.ranges.snapshot.count == 23)
        }
    }

    @Test func cancellingGivesResumeDataToTheHandlerAndTheDelegate() async throws {
        let resource = RangedResource(Self.body)
        resource.change { $0.stallsAfter = 700_000 }
        let recorder = TransferRecorder()
        try await BothVersions.withServer("http/1.1", { resource.answer($0) }, delegate: recorder) { session, server in
            let task = session.downloadTask(with: try BothVersions.request(server, "/"))
            task.resume()
            _ = await recorder.written.contents { $0.last?[1] == 700_000 }
            let data = try #require(await task.cancelByProducingResumeData())
            #expect(await recorder.all() == ["metrics", "complete \(URLError.cancelled.rawValue)"])
            #expect(recorder.errors.snapshot.first?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data == data)
            resource.change { $0.stallsAfter = nil }
            let (location, _) = try await session.download(resumeFrom: data)
            let isSame = try Data(contentsOf: location) == Data(Self.body)
            #expect(isSame)
            #expect(resource.ranges.snapshot == ["", "bytes=700000-"])
            try FileManager.default.removeItem(at: location)
        }
    }

    /// Also where the second attempt does not get as far as a response.
    @Test func resumeDataSurvivesAnAttemptThatFails() async throws {
        let resource = RangedResource(Self.body)
        let server = try LoopbackServer { resource.answer($0) }
        defer { server.stop() }
        try await withTimeout {
            let session = makeSession()
            resource.change { $0.breaksAfter = 300_000 }
            var data: Data?
            let request = try BothVersions.request(server, "/")
            for attempt in 0..<3 {
                do {
                    let previous = data
                    if let previous {
                        _ = try await session.download(resumeFrom: previous)
                    } else {
                        _ = try await session.download(for: request)
                    }
                    Issue.record("attempt \(attempt) succeeded")
                } catch let error as URLError {
                    data = try #require(error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
                }
            }
            resource.change { $0.breaksAfter = nil }
            let (location, _) = try await session.download(resumeFrom: try #require(data))
            let isSame = try Data(contentsOf: location) == Data(Self.body)
            #expect(isSame)
            #expect(resource.ranges.snapshot == ["", "bytes=300000-", "bytes=600000-", "bytes=900000-"])
            try FileManager.default.removeItem(at: location)
        }
    }

    /// By reset, by silence until the time is over, and by cancelling: twenty times, at points that a seed gives.
    @Test func aDownloadThatIsInterruptedAgainAndAgainIsWhole() async throws {
        let body = RangedResource.bytes(6_000_000)
        let resource = RangedResource(body)
        let server = try LoopbackServer { resource.answer($0) }
        defer { server.stop() }
        try await withTimeout {
            var random = SeededGenerator(seed: 20)
            var data: Data?
            var received: Int64 = 0
            for attempt in 0...20 {
                let interruption = attempt < 20 ? attempt % 3 : 3
                let session = makeSession { if interruption == 1 { $0.timeoutIntervalForRequest = 0.5 } }
                defer { session.invalidateAndCancel() }
                let recorder = TransferRecorder()
                let task =
                    try data.map { session.downloadTask(withResumeData: $0) }
                    ?? session.downloadTask(with: BothVersions.request(server, "/"))
                task.delegate = recorder
                let point = Int.random(in: 50_000..<250_000, using: &random)
                resource.change {
                    $0.breaksAfter = interruption == 0 ? point : nil
                    $0.stallsAfter = interruption == 1 || interruption == 2 ? point : nil
                }
                task.resume()
                if interruption == 2 {
                    _ = await recorder.written.count(reaches: 1)
                    task.cancel { _ in }
                }
                let last = await recorder.all().last
                received += recorder.written.snapshot.map { $0[0] }.reduce(0, +)
                if interruption == 3 {
                    #expect(last == "complete ok")
                    let isSame = recorder.files.snapshot == [Data(body)]
                    #expect(isSame)
                } else {
                    let error = try #require(recorder.errors.last)
                    data = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data ?? data
                }
            }
            // Nothing was written twice.
            #expect(received == 6_000_000)
        }
    }

    @Test func aPartialFileThatIsGoneOrShorterIsLoadedAnew() async throws {
        for keeps in [0, 1000] {
            let resource = RangedResource(Self.body)
            try await BothVersions.withServer("http/1.1", { resource.answer($0) }) { session, server in
                let data = try await Self.broken(session, server, resource, after: 900_000)
                let path = try #require(Self.partialFile(named: Self.fileName(in: data)))
                if keeps == 0 {
                    try FileManager.default.removeItem(atPath: path)
                } else {
                    try #require(FileHandle(forWritingAtPath: path)).truncate(atOffset: UInt64(keeps))
                }
                let recorder = TransferRecorder()
                let (location, _) = try await session.download(resumeFrom: data, delegate: recorder)
                let events = await recorder.events.contents { $0.contains("metrics") }
                #expect(events.first == "resumed at \(keeps) of 2000000")
                let isSame = try Data(contentsOf: location) == Data(Self.body)
                #expect(isSame)
                #expect(resource.ranges.snapshot == ["", keeps == 0 ? "" : "bytes=\(keeps)-"])
                try FileManager.default.removeItem(at: location)
            }
        }
    }

    /// The earlier resume data is not lost with a download that has not begun.
    @Test func aDownloadThatIsCancelledBeforeItBeginsCanBeResumed() async throws {
        let resource = RangedResource(Self.body)
        try await BothVersions.withServer("http/1.1", { resource.answer($0) }) { session, server in
            var data = try await Self.broken(session, server, resource, after: 900_000)
            for isResumed in [false, true] {
                let task = session.downloadTask(withResumeData: data)
                task.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
                if isResumed { task.resume() }
                data = try #require(await task.cancelByProducingResumeData())
            }
            #expect(try await Self.isWhole(session, resumeFrom: data))
            #expect(resource.ranges.snapshot == ["", "bytes=900000-"])
        }
    }

    /// The earlier file is free when a download that is cancelled while it opens the file gives its resume data.
    @Test func aDownloadThatIsCancelledWhileItsFileIsOpenedCanBeResumed() async throws {
        let resource = RangedResource(Self.body)
        let loop = EventLoop(name: "resumed")
        defer { loop.stop() }
        try await BothVersions.withServer("http/1.1", { resource.answer($0) }, on: loop) { session, server in
            let broken = try await Self.broken(session, server, resource, after: 900_000)
            let task = session.downloadTask(withResumeData: broken)
            let given = Recorder<Data?>()
            // On the loop, which is busy meanwhile: it has the cancellation before it learns that the file is open.
            loop.execute {
                task.resume()
                task.cancel { given.append($0) }
            }
            let first: Data? = await given.element(at: 0) ?? nil
            let data = try #require(first)
            #expect(try await Self.isWhole(session, resumeFrom: data))
            #expect(resource.ranges.snapshot.last == "bytes=900000-")
        }
    }

    @Test func nothingSecretIsInResumeData() async throws {
        let resource = RangedResource(Self.body)
        resource.change { $0.breaksAfter = 1000 }
        let server = try LoopbackServer { resource.answer($0) }
        defer { server.stop() }
        try await withTimeout {
            var request = URLRequest(
                url: try #require(URL(string: server.url("/").replacingOccurrences(of: "//", with: "//name:hidden1@"))))
            for name in ["Authorization", "Cookie", "Proxy-Authorization"] {
                request.setValue("hidden2", forHTTPHeaderField: name)
            }
            request.setValue("text/plain", forHTTPHeaderField: "Accept")
            do {
                _ = try await makeSession().download(for: request)
                Issue.record("it succeeded")
            } catch let error as URLError {
                let data = try #require(error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
                let text = String(decoding: data, as: UTF8.self)
                #expect(!text.contains("hidden") && text.contains("text/plain"))
            }
        }
    }

    private static var garbage: [(String, [String: Any]?)] {
        let name = "CFNetworkDownload_\(UUID().uuidString).tmp"
        let good: [String: Any] = [
            "LoadingKitResumeDataVersion": 1, "NSURLSessionDownloadURL": "http://127.0.0.1:9/",
            "NSURLSessionResumeBytesReceived": 10, "NSURLSessionResumeEntityTag": "\"a\"",
            "NSURLSessionResumeInfoTempFileName": name,
        ]
        func changed(_ key: String, _ value: Any?) -> [String: Any] {
            var list = good
            list[key] = value
            return list
        }
        return [
            ("nothing", nil), ("another list", ["a": 1]),
            ("another version", changed("LoadingKitResumeDataVersion", 2)),
            ("no URL", changed("NSURLSessionDownloadURL", nil)),
            ("a URL of a file", changed("NSURLSessionDownloadURL", "file:///etc/passwd")),
            ("no bytes", changed("NSURLSessionResumeBytesReceived", 0)),
            ("negative bytes", changed("NSURLSessionResumeBytesReceived", -5)),
            ("another file", changed("NSURLSessionResumeInfoTempFileName", "../../etc/passwd")),
            ("no rules", changed("LoadingKitResumeRequestRules", ["cachePolicy": "none"])),
            ("no version of the resource", changed("NSURLSessionResumeEntityTag", nil)),
        ]
    }

    @Test func whatIsNoResumeDataIsAnError() async throws {
        for (name, list) in Self.garbage {
            let data = try list.map {
                try PropertyListSerialization.data(fromPropertyList: $0, format: .xml, options: 0)
            }
            try await withTimeout {
                do {
                    _ = try await makeSession().download(resumeFrom: data ?? Data("no list".utf8))
                    Issue.record("\(name) was taken")
                } catch let error as URLError {
                    #expect(error.code == .cannotDecodeRawData, "\(name)")
                }
            }
        }
    }
}
