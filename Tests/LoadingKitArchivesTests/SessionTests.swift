import Foundation
import LoadingKit
import LoadingKitArchives
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Loads by sessions from a server of one archive.
@Suite(.timeLimit(.minutes(5))) struct SessionTests {
    static let text = String(repeating: "all work and no play ", count: 20_000)

    static func archive(_ change: (inout ArchiveBuilder) -> Void = { _ in }) throws -> [UInt8] {
        var builder = ArchiveBuilder(
            .init("readme.txt", "hello"), .init("stored.bin", noise(300_000)),
            .init("dir/deflated.json", Self.text, method: 8), .init("dir/"), .init("empty"))
        change(&builder)
        return try builder.make()
    }

    @Test func membersAndTheirResponses() async throws {
        let server = try RangeServer(Self.archive())
        let session = makeSession()
        let (hello, response) = try await session.load(try server.url("readme.txt"))
        #expect(String(decoding: hello, as: UTF8.self) == "hello")
        #expect(response.statusCode == 200 && response.mimeType == "text/plain" && response.expectedContentLength == 5)
        #expect(response.field("Last-Modified") == "Mon, 01 Jan 2024 12:00:00 GMT")
        #expect(response.field("Accept-Ranges") == "bytes")
        #expect(response.suggestedFilename == "readme.txt")
        #expect(try response.url == server.url("readme.txt"))
        let (text, json) = try await session.load(try server.url("dir/deflated.json"))
        #expect(String(decoding: text, as: UTF8.self) == Self.text && json.mimeType == "application/json")
        #expect(try await session.load(try server.url("stored.bin")).0 == Data(noise(300_000)))
        #expect(try await session.load(try server.url("empty")).0.isEmpty)
        // The directory once, and each member once.
        #expect(server.requests.count == 5)
        #expect(server.requests.allSatisfy { $0.fields[name: "Accept-Encoding"] == "identity" })
        #expect(server.requests.dropFirst().allSatisfy { $0.fields[name: "If-Range"] == "\"one\"" })
        #expect(server.server.openings.count == 1)
    }

    @Test func head() async throws {
        let server = try RangeServer(Self.archive())
        let session = makeSession()
        let (data, response) = try await session.load(try server.url("stored.bin"), method: "HEAD")
        #expect(data.isEmpty && response.statusCode == 200 && response.expectedContentLength == 300_000)
        #expect(server.sent.value < 40_000)
        let request = response.field("ETag")
        let (_, same) = try await session.load(try server.url("stored.bin"), fields: ["If-None-Match": request ?? ""])
        #expect(same.statusCode == 304)
        #expect(await session.archiveError(try server.url("readme.txt"), method: "POST") == .unsupportedMethod("POST"))
    }

    @Test func listings() async throws {
        let server = try RangeServer(Self.archive())
        let session = makeSession()
        let (data, response) = try await session.load(try server.url())
        let listing = try JSONDecoder().decode(ArchiveListing.self, from: data)
        #expect(response.mimeType == "application/json" && response.expectedContentLength == -1)
        #expect(listing.archive == server.server.url("/archive.zip"))
        #expect(listing.members.map(\.name) == ["readme.txt", "stored.bin", "dir/deflated.json", "dir/", "empty"])
        let member = listing.members[2]
        #expect(Int(member.size) == Self.text.count && member.method == 8 && !member.isDirectory && !member.isEncrypted)
        #expect(member.modified == "2024-01-01T12:00:00Z" && member.compressedSize < member.size)
        let (part, _) = try await session.load(try server.url("dir/"))
        let members = try JSONDecoder().decode(ArchiveListing.self, from: part).members
        #expect(members.map(\.name) == ["dir/deflated.json", "dir/"])
        #expect(await session.archiveError(try server.url("none/")) == .memberNotFound("none/"))
        // One request for the first, and one of a byte for each that follows.
        #expect(server.ranges == ["bytes=-32768"] + Array(repeating: server.ranges.last ?? nil, count: 2))
        let empty = try RangeServer(ArchiveBuilder().make())
        let (nothing, _) = try await makeSession().load(try empty.url())
        #expect(try JSONDecoder().decode(ArchiveListing.self, from: nothing).members.isEmpty)
    }

    @Test func rangesOfMembers() async throws {
        let server = try RangeServer(Self.archive())
        let session = makeSession()
        let (stored, text) = (noise(300_000), Array(Self.text.utf8))
        let table: [(String, [UInt8], Range<Int>)] = [
            ("stored.bin", stored, 0..<1), ("stored.bin", stored, 100..<2000),
            ("stored.bin", stored, 250_000..<250_010),
            ("stored.bin", stored, 299_000..<300_000), ("stored.bin", stored, 0..<300_000),
            ("dir/deflated.json", text, 0..<10), ("dir/deflated.json", text, 200_000..<200_100),
            ("dir/deflated.json", text, 100..<text.count),
        ]
        for (name, content, range) in table {
            let field = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
            let (data, response) = try await session.load(try server.url(name), fields: ["Range": field])
            #expect(response.statusCode == 206 && data == Data(content[range]), "\(name) \(range)")
            let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)"
            #expect(response.field("Content-Range") == place)
        }
        let (_, beyond) = try await session.load(try server.url("readme.txt"), fields: ["Range": "bytes=5-"])
        #expect(beyond.statusCode == 416 && beyond.field("Content-Range") == "bytes */5")
        // Ten bytes from the middle of a stored member are two small requests.
        let before = server.sent.value
        _ = try await session.load(try server.url("stored.bin"), fields: ["Range": "bytes=200000-200009"])
        #expect(server.sent.value - before < 200)
    }

    @Test func aDownloadIsResumed() async throws {
        let server = try RangeServer(Self.archive()) { state in
            // The member's data breaks off, the first time.
            state.willAnswer = { state, number, _ in
                state.breaksAfter = number == 1 ? 100_000 : nil
                return nil
            }
        }
        let session = makeSession()
        do {
            _ = try await session.download(from: try server.url("stored.bin"))
            Issue.record("the first download was whole")
        } catch let error as URLError {
            let rest = try #require(error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
            let (file, response) = try await session.download(resumeFrom: rest)
            defer { try? FileManager.default.removeItem(at: file) }
            #expect((response as? HTTPURLResponse)?.statusCode == 206)
            #expect(try Data(contentsOf: file) == Data(noise(300_000)))
        }
        #expect(server.sent.value < 450_000)
    }

    @Test func aServerWithoutRanges() async throws {
        for isUnknown in [false, true] {
            let bytes = try Self.archive()
            let server = try RangeServer(bytes) {
                $0.answersRanges = false
                $0.answersUnknownLength = isUnknown
            }
            let session = makeSession()
            #expect(try await session.load(try server.url("readme.txt")).0.count == 5)
            #expect(server.requests.count == 1)
            var limits = ArchiveLimits()
            limits.wholeArchive = 1000
            let error = await makeSession(limits).archiveError(try server.url("readme.txt"))
            #expect(error == .rangesNotSupported(size: isUnknown ? nil : Int64(bytes.count)))
        }
    }

    /// Between the directory and the member, once: the load begins again. Each time: it fails.
    @Test func anArchiveThatChanges() async throws {
        let old = try Self.archive()
        let new = try Self.archive { $0.members[0] = .init("readme.txt", "changed, and longer") }
        let server = try RangeServer(old)
        let session = makeSession()
        _ = try await session.load(try server.url("empty"))
        server.state.update { ($0.bytes, $0.entityTag) = (new, "\"two\"") }
        #expect(try await session.load(try server.url("readme.txt")).0 == Data("changed, and longer".utf8))
        server.state.update { ($0.bytes, $0.entityTag) = (old, "\"three\"") }
        let listing = try await session.load(try server.url()).0
        #expect(try JSONDecoder().decode(ArchiveListing.self, from: listing).members.first?.size == 5)

        var limits = ArchiveLimits()
        limits.wholeArchive = 0
        for hasTag in [true, false] {
            let restless = try RangeServer(old) { state in
                state.willAnswer = { state, number, _ in
                    state.entityTag = hasTag ? "\"\(number)\"" : nil
                    state.bytes = number % 2 == 0 ? old : new
                    return nil
                }
            }
            // Not in the end that the directory is loaded with.
            #expect(await makeSession(limits).archiveError(try restless.url("readme.txt")) == .archiveChanged)
        }
    }

    @Test func whatIsRefused() async throws {
        func error(_ builder: ArchiveBuilder, _ name: String = "a") async throws -> ArchiveError? {
            let server = try RangeServer(builder.make())
            let (session, url) = (makeSession(), try server.url(name))
            let first = await session.archiveError(url)
            // The result with the cached directory is the same.
            #expect(await session.archiveError(url) == first)
            return first
        }
        let member = ArchiveBuilder.Member("a", noise(500))
        #expect(try await error(ArchiveBuilder(member), "b") == .memberNotFound("b"))
        #expect(try await error(ArchiveBuilder(member.with { $0.flags = 1 })) == .encrypted("a"))
        let lzma = try await error(ArchiveBuilder(member.with { $0.method = 14 }))
        #expect(lzma == .unsupportedCompression(member: "a", method: 14))
        #expect(
            try await error(ArchiveBuilder(member.with { $0.localName = [0x62] }))
                == .localHeaderDiffers(member: "a", field: "name"))
        let overlapping = ArchiveBuilder(
            member.with { ($0.compressedSize, $0.size) = (510, 510) }, .init("b", "x"))
        #expect(try await error(overlapping) == .overlapping("a"))
        let wrong = try await error(ArchiveBuilder(member.with { $0.checksum = 7 }))
        #expect(wrong == .wrongChecksum(member: "a", expected: 7, found: slowCRC32(noise(500))))
        var disks = ArchiveBuilder(member)
        disks.disk = 3
        #expect(try await error(disks) == .multiDisk)
        let none = try RangeServer(Array("no archive at all".utf8))
        #expect(await makeSession().archiveError(try none.url("a")) == .notAnArchive)
        let empty = try RangeServer([])
        #expect(await makeSession().archiveError(try empty.url("a")) == .notAnArchive)
        var limits = ArchiveLimits()
        limits.directory = 40
        let large = try RangeServer(ArchiveBuilder(member).make())
        #expect(await makeSession(limits).archiveError(try large.url("a")) == .directoryTooLarge(size: 47))
    }

    /// Memory for a size in the directory is not allocated before the bytes have arrived.
    @Test func hostileSizes() async throws {
        var builder = ArchiveBuilder(.init("a", "hello", method: 8))
        builder.members[0].size = .max - 1
        let server = try RangeServer(builder.make())
        guard case .corruptMember? = await makeSession().archiveError(try server.url("a")) else {
            Issue.record("a wrong size was accepted")
            return
        }
        builder = ArchiveBuilder(.init("a", "hello"))
        builder.directorySize = 0xFFFF_FFFE
        let huge = try RangeServer(builder.make())
        guard case .truncated? = await makeSession().archiveError(try huge.url("a")) else {
            Issue.record("a directory of 4 GB was accepted")
            return
        }
    }

    /// The expansion of a member is limited like that of a body with a content coding, before all of its content was decoded.
    @Test func membersThatExpandFar() async throws {
        let size = (32 << 20) + (8 << 20)
        let server = try RangeServer(
            ArchiveBuilder(
                .init("a", [UInt8](repeating: 7, count: size), method: 8), .init("b", Self.text, method: 8)
            ).make())
        func load(_ member: String, _ configure: (URLSessionConfiguration) -> Void = { _ in }) async -> Result<
            Int, any Error
        > {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            ArchiveLoader().install(in: configuration)
            configure(configuration)
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            do { return .success(try await session.load(server.url(member)).0.count) } catch { return .failure(error) }
        }
        let error = await load("a").failure
        #expect(error as? ArchiveError == .expandsTooFar("a", ratio: 200))
        #expect(error?.localizedDescription.contains("configuration.maximumDecompressionRatio") == true)
        #expect(try await load("a") { $0.maximumDecompressionRatio = .max }.get() == size)
        let collected = await load("a") {
            $0.maximumDecompressionRatio = .max
            $0.maximumCollectedBodySize = 1000
        }
        #expect((collected.failure as? URLError)?.code == .dataLengthExceedsMaximum)
        #expect(try await load("b") { $0.maximumDecompressionRatio = 1 }.get() == Self.text.utf8.count)
    }

    @Test func aPrefixACommentAndZip64() async throws {
        let cases = [(100, 0, false), (70_000, 40_000, true), (0, 65_535, true), (0, 65_535, false)]
        for (prefix, comment, isZip64) in cases {
            let server = try RangeServer(
                Self.archive {
                    ($0.prefix, $0.comment, $0.isZip64) = (noise(prefix), noise(comment, seed: 3), isZip64)
                })
            #expect(try await makeSession().load(try server.url("readme.txt")).0.count == 5)
            #expect(server.requests.count <= 4)
        }
    }

    @Test func statusesOfTheArchive() async throws {
        for status in [401, 403, 404, 500] {
            let server = try LoopbackServer { _ in .text("no", status: status) }
            defer { server.stop() }
            let archive = try #require(URL(string: server.url("/a.zip")))
            let url = try #require(ArchiveURL(archive: archive, member: "a").url)
            #expect(await makeSession().archiveError(url) == .unexpectedStatus(status))
        }
    }

    @Test func files() async throws {
        let folder = try TemporaryFolder()
        let session = makeSession()
        for prefix in [0, 50_000] {
            let file = try folder.write(try Self.archive { $0.prefix = noise(prefix) }, to: "a b.zip")
            let url = try #require(ArchiveURL(archive: file, member: "dir/deflated.json").url)
            #expect(String(decoding: try await session.load(url).0, as: UTF8.self) == Self.text)
            let small = try folder.write(ArchiveBuilder(.init("a", "new")).make(), to: "a b.zip")
            // The directory of a file is not cached.
            let next = try #require(ArchiveURL(archive: small, member: "a").url)
            #expect(try await session.load(next).0 == Data("new".utf8))
        }
        let none = try #require(ArchiveURL(archive: folder.file("none"), member: "a").url)
        await #expect(throws: URLError.self) { try await session.load(none) }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
