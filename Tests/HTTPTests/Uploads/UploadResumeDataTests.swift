import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

@Suite("Resume data of uploads")
struct UploadResumeDataTests {
    private static let body = ResumableUploadTests.body

    @Test("lets another session go on", arguments: BothVersions.all)
    func anotherSession(_ version: String) async throws {
        try await UploadSite.with(version) { site in
            let data = try await site.interrupted(Self.body, at: 1_000_000)
            let observer = site.observer()
            let other = URLSession(configuration: site.session.configuration)
            defer { other.invalidateAndCancel() }
            let (text, response) = try await other.upload(resumeFrom: data, delegate: observer)
            #expect(String(decoding: text, as: UTF8.self) == "took 3000000")
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(site.has(Self.body) && site.methods.suffix(2) == ["HEAD", "PATCH 1000000"])
            #expect(observer.sent.last?[1...] == [3_000_000, 3_000_000])
        }
    }

    @Test(
        "is given to a program that cancels a task", arguments: BothVersions.all, ["file", "stream", "recorded stream"])
    func cancelled(_ version: String, _ source: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Self.body, to: "body")
        try await UploadSite.with(version, ResumableUploadTests.faults { $0.breaks = [1_000_000] }) { site in
            site.peer.change { $0.retrievals = [ServerResponse(503).adding("Retry-After", "50")] }
            let observer = site.observer(stream: Self.body)
            // A recording copies the stream while it is sent.
            if source == "recorded stream" { try site.session.recordHAR(to: folder.file("upload.har")) }
            let task =
                source == "file"
                ? site.session.uploadTask(with: try site.request(), fromFile: file)
                : site.session.uploadTask(withStreamedRequest: try site.request())
            task.delegate = observer
            task.resume()
            await site.server.requests.count(reaches: 1)
            let data = try #require(await task.cancelByProducingResumeData())
            site.peer.change { $0.retrievals = [] }
            #expect(await observer.errors.count(reaches: 1).first??.code == .cancelled)
            #expect(observer.errors.last??.uploadTaskResumeData == data)
            #expect(try await site.resume(data, observer).get() == "took 3000000")
            #expect(site.has(Self.body))
            #expect(observer.offsets.snapshot == (source == "file" ? [] : [1_000_000]))
        }
    }

    @Test("is not made for a task that is cancelled without, and nothing is sent then", arguments: BothVersions.all)
    func notAsked(_ version: String) async throws {
        try await UploadSite.with(version, ResumableUploadTests.faults { $0.breaks = [1_000_000] }) { site in
            site.peer.change { $0.retrievals = [ServerResponse(503).adding("Retry-After", "50")] }
            let observer = site.observer()
            let task = site.session.uploadTask(with: try site.request(), from: Self.body)
            task.delegate = observer
            task.resume()
            await site.server.requests.count(reaches: 1)
            task.cancel()
            let error = try #require(await observer.errors.count(reaches: 1).first ?? nil)
            #expect(error.code == .cancelled && error.uploadTaskResumeData == nil)
            #expect(await task.cancelByProducingResumeData() == nil, "it is over")
            #expect(site.methods == ["HEAD"])
        }
    }

    @Test("is given back by a task that is cancelled before it begins")
    func unbegun() async throws {
        try await UploadSite.with("h2") { site in
            let data = try await site.interrupted(Self.body, at: 1_000_000)
            let task = site.session.uploadTask(withResumeData: data)
            let again = try #require(await task.cancelByProducingResumeData())
            #expect(try await site.resume(again).get() == "took 3000000")
        }
    }

    @Test("can be used by two tasks, one after the other", arguments: BothVersions.all)
    func twice(_ version: String) async throws {
        try await UploadSite.with(version) { site in
            let data = try await site.interrupted(Self.body, at: 1_000_000)
            #expect(try await site.resume(data).get() == "took 3000000")
            #expect(try await site.resume(data).get() == "204", "the server has all")
            #expect(site.has(Self.body) && site.peer.uploads.count == 1)
        }
    }

    @Test("can be used by two tasks at once")
    func atOnce() async throws {
        try await UploadSite.with("http/1.1") { site in
            let data = try await site.interrupted(Self.body, at: 1_000_000)
            async let first = site.resume(data)
            async let second = site.resume(data)
            let results = try await [first, second]
            let succeeded = results.count { if case .success = $0 { true } else { false } }
            #expect(succeeded > 0, "\(results)")
            #expect(site.has(Self.body))
        }
    }

    @Test("has no credentials in it, and is refused when it is something else")
    func contents() async throws {
        try await UploadSite.with("h2") { site in
            site.peer.change {
                $0.breaks = [1000]
                $0.retrievals = [ServerResponse(503).adding("Retry-After", "86400")]
            }
            var request = try site.request()
            request.setValue("Bearer hush", forHTTPHeaderField: "Authorization")
            request.setValue("key=hush", forHTTPHeaderField: "Cookie")
            request.setValue("hush", forHTTPHeaderField: "X-API-Key")
            request.setValue("de", forHTTPHeaderField: "Accept-Language")
            do {
                _ = try await site.session.upload(for: request, from: Self.body, delegate: site.observer())
                #expect(Bool(false))
            } catch let error as URLError {
                let data = try #require(error.uploadTaskResumeData)
                #expect(data.range(of: Data("hush".utf8)) == nil && data.range(of: Data("Accept-Language".utf8)) != nil)
                var list = try #require(
                    try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
                for (key, value) in [
                    ("LoadingKitUploadResumeDataVersion", 2 as Any), ("UploadResource", "file:///etc/passwd"),
                    ("UploadResource", "https://elsewhere.example/"), ("Method", "POST\r\nX: y"),
                    ("UploadResource", "http://localhost:\(site.server.address.port ?? 0)/uploads/0"),
                    ("URL", 7),
                ] {
                    let kept = list[key]
                    list[key] = value
                    let other = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
                    await refuses(other, site)
                    list[key] = kept
                }
            }
            for other in [Data(), Data("no list".utf8), Data(#"<plist version="1.0"><array/></plist>"#.utf8)] {
                await refuses(other, site)
            }
        }
    }

    private func refuses(_ data: Data, _ site: UploadSite) async {
        do {
            _ = try await site.session.upload(resumeFrom: data)
            #expect(Bool(false))
        } catch {
            #expect((error as? URLError)?.code == .cannotDecodeRawData, "\(error)")
        }
    }

    @Test("does not continue with a file that was changed")
    func changedFile() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Self.body, to: "body")
        try await UploadSite.with("h2") { site in
            site.peer.change {
                $0.breaks = [1_000_000]
                $0.retrievals = [ServerResponse(503).adding("Retry-After", "86400")]
            }
            let data: Data
            do {
                _ = try await site.session.upload(for: try site.request(), fromFile: file, delegate: site.observer())
                return #expect(Bool(false))
            } catch let error as URLError {
                data = try #require(error.uploadTaskResumeData)
            }
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: file.path)
            guard case .failure(let changed) = try await site.resume(data) else { return #expect(Bool(false)) }
            #expect(changed.code == .requestBodyStreamExhausted)
            try FileManager.default.removeItem(at: file)
            guard case .failure(let gone) = try await site.resume(data) else { return #expect(Bool(false)) }
            #expect(gone.code == .fileDoesNotExist)
            #expect(site.methods == ["HEAD"], "nothing was sent")
        }
    }
}
