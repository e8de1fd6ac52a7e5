import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// Downloads whose content is coded: they go on from what came, and the file has what it is decoded to.
@Suite struct CodedResumeTests {
    /// Bytes that hardly become fewer.
    private static let plain: [UInt8] = {
        var random = SeededGenerator(seed: 7)
        return (0..<250_000).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
    }()
    private static let coded: [UInt8] = {
        guard case .bytes(let bytes)? = try? ServerResponse.gzip(plain).body else { return [] }
        return bytes
    }()

    /// The codings in the requests.
    private final class Site: Sendable {
        let resource: RangedResource
        let accepted = Recorder<String?>()
        private let coding: String

        init(_ body: [UInt8] = CodedResumeTests.coded, coding: String = "gzip") {
            resource = RangedResource(body)
            self.coding = coding
        }

        func answer(_ request: ServerRequest) -> ServerResponse {
            accepted.append(request.fields[.acceptEncoding])
            return resource.answer(request).adding("Content-Encoding", coding)
        }

        /// The resume data of a load that breaks after so many bytes of the response.
        func breaking(after count: Int, _ load: () async throws -> Void) async throws -> Data {
            resource.change { $0.breaksAfter = count }
            defer { resource.change { $0.breaksAfter = nil } }
            do {
                try await load()
                throw POSIXError(.EIO)
            } catch let error as URLError {
                return try #require(error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data, "\(error)")
            }
        }
    }

    private static func take(_ location: URL) throws -> [UInt8] {
        defer { try? FileManager.default.removeItem(at: location) }
        return [UInt8](try Data(contentsOf: location))
    }

    @Test(arguments: BothVersions.all) func itGoesOnWhereItEnded(_ version: String) async throws {
        let site = Site()
        try await BothVersions.withServer(version, { site.answer($0) }) { session, server in
            let request = try BothVersions.request(server, "/")
            let first = try await site.breaking(after: 900_000) { _ = try await session.download(for: request) }
            let second = try await site.breaking(after: 500_000) { _ = try await session.download(resumeFrom: first) }
            let (location, response) = try await session.download(resumeFrom: second)
            #expect((response as? HTTPURLResponse)?.statusCode == 206)
            let isSame = try Self.take(location) == Self.plain
            #expect(isSame)
            let ranges = site.resource.ranges.snapshot
            #expect(ranges.count == 3 && ranges[0].isEmpty && !ranges.dropFirst().contains(""), "\(ranges)")
            #expect(site.accepted.snapshot.dropFirst() == ["gzip", "gzip"])
            // A server's reset may overtake what it has sent over HTTP/2.
            if version == "http/1.1" { #expect(ranges == ["", "bytes=900000-", "bytes=1400000-"]) }
        }
    }

    @Test func itIsCancelledAndGoesOn() async throws {
        let site = Site()
        site.resource.change { $0.stallsAfter = 700_000 }
        let recorder = TransferRecorder()
        try await BothVersions.withServer("http/1.1", { site.answer($0) }, delegate: recorder) { session, server in
            let task = session.downloadTask(with: try BothVersions.request(server, "/"))
            task.resume()
            // The decoder's last bytes may wait for more.
            _ = await recorder.written.contents { ($0.last?[1] ?? 0) > 600_000 }
            let data = try #require(await task.cancelByProducingResumeData())
            site.resource.change { $0.stallsAfter = nil }
            let (location, _) = try await session.download(resumeFrom: data)
            let isSame = try Self.take(location) == Self.plain
            #expect(isSame)
            #expect(site.resource.ranges.count == 2 && site.resource.ranges.snapshot.last?.isEmpty == false)
        }
    }

    enum Change: CaseIterable {
        case isOther, hasNoRanges
    }

    /// The whole is asked for without a word about codings, and decoded as it comes.
    @Test(arguments: Change.allCases) func itBeginsAnewWhereItCannotGoOn(_ change: Change) async throws {
        let site = Site()
        let recorder = TransferRecorder()
        try await BothVersions.withServer("http/1.1", { site.answer($0) }) { session, server in
            let request = try BothVersions.request(server, "/")
            let data = try await site.breaking(after: 900_000) { _ = try await session.download(for: request) }
            site.resource.change {
                switch change {
                case .isOther: $0.entityTag = "\"two\""
                case .hasNoRanges: $0.hasRanges = false
                }
            }
            let task = session.downloadTask(withResumeData: data)
            task.delegate = recorder
            task.resume()
            #expect(await recorder.all() == ["resumed at 0 of -1", "file", "metrics", "complete ok"])
            let isSame = recorder.files.snapshot == [Data(Self.plain)]
            #expect(isSame)
            #expect(site.resource.ranges.snapshot == ["", "bytes=900000-", ""])
        }
    }

    /// A program that wants a coded body gets it coded.
    @Test func whatIsToStayCodedDoes() async throws {
        let site = Site()
        try await BothVersions.withServer("http/1.1", { site.answer($0) }) { session, server in
            var request = try BothVersions.request(server, "/")
            request.keepsContentCodings = true
            let (asks, resumed) = (request, Recorder<Data>())
            resumed.append(try await site.breaking(after: 900_000) { _ = try await session.download(for: asks) })
            let data = try #require(resumed.last)
            let (location, _) = try await session.download(resumeFrom: data)
            let isSame = try Self.take(location) == Self.coded
            #expect(isSame)
            #expect(site.resource.ranges.snapshot == ["", "bytes=900000-"])
        }
    }

    /// The file has what came, also where the field names a coding that is not decoded.
    @Test(arguments: ["identity", "aws-chunked", "utf-8"]) func whatIsNotDecodedGoesOn(_ coding: String) async throws {
        let site = Site(coding: coding)
        try await BothVersions.withServer("http/1.1", { site.answer($0) }) { session, server in
            let request = try BothVersions.request(server, "/")
            let first = try await site.breaking(after: 900_000) { _ = try await session.download(for: request) }
            let second = try await site.breaking(after: 500_000) { _ = try await session.download(resumeFrom: first) }
            let (location, _) = try await session.download(resumeFrom: second)
            let isSame = try Self.take(location) == Self.coded
            #expect(isSame)
            #expect(site.resource.ranges.snapshot == ["", "bytes=900000-", "bytes=1400000-"])
            #expect(site.accepted.snapshot.dropFirst() == [coding, coding])
        }
    }

    @Test func whatIsNoGzipAtItsEndFails() async throws {
        let site = Site(Array(Self.coded.dropLast(10)))
        try await BothVersions.withServer("http/1.1", { site.answer($0) }) { session, server in
            let request = try BothVersions.request(server, "/")
            let data = try await site.breaking(after: 900_000) { _ = try await session.download(for: request) }
            let error = await #expect(throws: URLError.self) { _ = try await session.download(resumeFrom: data) }
            #expect(error?.code == .cannotDecodeRawData)
            // With all bytes, another attempt would have the same ones.
            #expect(error?.userInfo[NSURLSessionDownloadTaskResumeData] == nil)
        }
    }

    /// The first load breaks behind the last byte that the resource has when it goes on.
    @Test func whatIsThereAlreadyIsDecoded() async throws {
        let site = Site(Self.coded + [0, 0, 0, 0])
        try await BothVersions.withServer("http/1.1", { site.answer($0) }) { session, server in
            let request = try BothVersions.request(server, "/")
            let count = Self.coded.count
            let data = try await site.breaking(after: count) { _ = try await session.download(for: request) }
            site.resource.change { $0.body = Self.coded }
            let (location, response) = try await session.download(resumeFrom: data)
            #expect((response as? HTTPURLResponse)?.statusCode == 206)
            let isSame = try Self.take(location) == Self.plain
            #expect(isSame)
            #expect(site.resource.ranges.snapshot == ["", "bytes=\(count)-"])
        }
    }

    /// The files of this size in the folders for downloads, of this process and of others.
    private static func files(ofSize size: Int) -> Set<String> {
        let folder = NSTemporaryDirectory() + "LoadingKit-\(getuid())"
        let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return Set(
            paths.filter { path in
                let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")
                return attributes?[.size] as? Int == size
            })
    }

    /// The part in its codings is gone when the whole is there.
    @Test(arguments: [false, true]) func nothingIsLeftBehind(isResumed: Bool) async throws {
        // Of a size that no other test's file has.
        let plain = Array(Self.plain.dropLast(isResumed ? 34_567 : 12_345))
        guard case .bytes(let coded) = try ServerResponse.gzip(plain).body else { return }
        let site = Site(coded)
        let before = Self.files(ofSize: coded.count)
        try await BothVersions.withServer("http/1.1", { site.answer($0) }) { session, server in
            let request = try BothVersions.request(server, "/")
            let location: URL
            if isResumed {
                let data = try await site.breaking(after: 900_000) { _ = try await session.download(for: request) }
                location = try await session.download(resumeFrom: data).0
                // It is deleted while the program gets the other file.
                try await waitUntil { Self.files(ofSize: coded.count).isSubset(of: before) }
            } else {
                location = try await session.download(for: request).0
                #expect(Self.files(ofSize: coded.count).isSubset(of: before))
            }
            let isSame = try Self.take(location) == plain
            #expect(isSame)
        }
    }

    /// Passes on the rest of a download, and gives another response in its place.
    private struct Replacing: LoadInterceptor {
        func canIntercept(_ request: URLRequest) -> Bool { request.value(forHTTPHeaderField: "Range") != nil }

        func load(_ load: LoadContext) async throws {
            try await load.receive(load.next.load(load.request))
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
            try await load.receive(Data("other".utf8))
        }
    }

    /// The codings are those of the response that it replaces.
    @Test func aLaterResponseIsNotDecoded() async throws {
        let site = Site()
        let server = try LoopbackServer { site.answer($0) }
        defer { server.stop() }
        let session = makeSession { $0.interceptors = [Replacing()] }
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: server.url("/")))
        try await withTimeout {
            let data = try await site.breaking(after: 900_000) { _ = try await session.download(from: url) }
            let (location, _) = try await session.download(resumeFrom: data)
            #expect(try Self.take(location) == Array("other".utf8))
            #expect(site.resource.ranges.snapshot == ["", "bytes=900000-"])
        }
    }

    /// Suspends the task when the load has ended, and its end was not handled yet.
    private struct Suspending: LoadInterceptor {
        let loop: EventLoop

        var runsOnSessionExecutor: Bool { true }

        /// The first part has its codings only where it does not pass through an interceptor.
        func canIntercept(_ request: URLRequest) -> Bool { request.value(forHTTPHeaderField: "Range") != nil }

        func load(_ load: LoadContext) async throws {
            try await load.receive(load.next.load(load.request))
            // It runs when this method has returned, before the engine is told of the load's end.
            loop.execute { load.task.suspend() }
        }
    }

    /// The content is decoded, and the end is not reported, as the task is suspended.
    @Test func resumeDataNamesTheFileOfADecodedDownload() async throws {
        // Of a size that no other test's file has.
        let plain = Array(Self.plain.dropLast(23_456))
        guard case .bytes(let coded) = try ServerResponse.gzip(plain).body else { return }
        let site = Site(coded)
        let server = try LoopbackServer { site.answer($0) }
        defer { server.stop() }
        let loop = EventLoop(name: "suspended")
        defer { loop.stop() }
        let session = makeSession(on: loop) { $0.interceptors = [Suspending(loop: loop)] }
        let other = makeSession()
        defer { for session in [session, other] { session.invalidateAndCancel() } }
        let url = try #require(URL(string: server.url("/")))
        let before = (coded: Self.files(ofSize: coded.count), plain: Self.files(ofSize: plain.count))
        try await withTimeout {
            let first = try await site.breaking(after: 900_000) { _ = try await session.download(from: url) }
            let task = session.downloadTask(withResumeData: first)
            task.resume()
            try await waitUntil { !Self.files(ofSize: plain.count).isSubset(of: before.plain) }
            let second = try #require(await task.cancelByProducingResumeData())
            let left = Self.files(ofSize: coded.count).subtracting(before.coded)
            #expect(left.count == 1)
            let list = try PropertyListSerialization.propertyList(from: second, format: nil) as? [String: Any]
            let name = try #require(list?["NSURLSessionResumeInfoTempFileName"] as? String)
            #expect(left.first?.hasSuffix(name) == true)
            #expect(Self.files(ofSize: plain.count).isSubset(of: before.plain))
            let (location, _) = try await other.download(resumeFrom: second)
            let isSame = try Self.take(location) == plain
            #expect(isSame)
        }
    }

    /// The part in its codings is for resuming alone: where it cannot be written, the download is whole all the same, and
    /// does not wait for it.
    @Test func whatCannotBeKeptHoldsNothingUp() async throws {
        let plain = Array(repeatElement(Self.plain, count: 3).joined())
        guard case .bytes(let coded) = try ServerResponse.gzip(plain).body else { return }
        let site = Site(coded)
        let server = try LoopbackServer { site.answer($0) }
        defer { server.stop() }
        let loop = EventLoop(name: "full disk")
        defer { loop.stop() }
        let session = makeSession(on: loop)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: server.url("/")))
        try await withTimeout {
            var whole = 0
            for number in 1...12 {
                let plan = FaultPlan(.pwrite, .nth(number), .fail(ENOSPC))
                loop.attach(plan)
                do {
                    let (location, _) = try await session.download(from: url)
                    let isSame = try Self.take(location) == plain
                    #expect(isSame)
                    if plan.injectedCount > 0 { whole += 1 }
                } catch let error as URLError {
                    #expect(error.code == .cannotWriteToFile)
                }
            }
            // In how many writes the parts are depends on the threads.
            #expect(whole > 0)
        }
    }
}
