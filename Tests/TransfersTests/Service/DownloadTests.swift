import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

#if Persistence
    @Suite("Downloads of the service")
    struct DownloadTests {
        private func data(_ end: TransferStatus) throws -> Data {
            try Data(contentsOf: URL(fileURLWithPath: try #require(end.file)))
        }

        /// Download 1 has lost its connection after 400,000 bytes, and the service was stopped before the next attempt.
        private func stopAfterABreak(_ harness: ServiceHarness, _ server: RangeServer) async throws {
            server.behaviour.update { $0.breaks = [400_000] }
            harness.randomness.value = 1
            let first = try harness.start()
            try await TestProgram(first, try harness.description()).download(1, server.url)
            await harness.pauses.count(reaches: 1)
            first.stop()
        }

        @Test("a download is told, and taken")
        func download() async throws {
            try await withProgram(count: 300_000) { harness, server, _, program in
                #expect(try await program.attached().nextIdentifier == 1)
                try await program.download(1, server.url)
                let end = try await program.end(of: 1)
                #expect(end.error == nil && end.response?.head?.statusCode == 200 && end.progress.received == 300_000)
                #expect(try data(end) == server.content)
                #expect(end.metrics?.transactions.count == 1)
                var status = stat()
                #expect(SystemCalls.lstat(try #require(end.file), &status) == 0 && status.st_mode & 0o777 == 0o600)
                try await program.takeAll(1)
                #expect(harness.files.isEmpty)
                let names = program.events.snapshot.map(\.name).filter { $0 != "progress" }
                #expect(names == ["attached", "deliveredEarlierEvents", "response", "ended"])
            }
        }

        @Test("progress is told ten times a second at most")
        func progress() async throws {
            try await withProgram(count: 20_000_000) { _, server, _, program in
                try await program.download(1, server.url)
                _ = try await program.end(of: 1)
                // By a clock that stands still.
                #expect(program.events.snapshot.count { $0.name == "progress" } == 1)
            }
        }

        @Test("what breaks off goes on where it was, by ranges")
        func ranges() async throws {
            try await withProgram() { harness, server, _, program in
                server.behaviour.update { $0.breaks = [300_000, 0, 200_000] }
                try await program.download(1, server.url)
                let end = try await program.end(of: 1)
                #expect(end.error == nil)
                #expect(try data(end) == server.content)
                #expect(server.sent.value == 1_000_000)
                #expect(server.ranges == [nil, "bytes=300000-", "bytes=300000-", "bytes=500000-"])
                #expect(end.metrics?.transactions.count == 4)
                #expect(harness.pauses.count == 3)
            }
        }

        @Test(
            "a part of the rest, and the body of a range that ends early, are interruptions",
            arguments: [(400_000, [], "bytes=700000-"), (nil, [200_000], "bytes=500000-")] as [(Int?, [Int], String)])
        func partOfTheRest(most: Int?, ends: [Int], last: String) async throws {
            try await withProgram() { _, server, _, program in
                server.behaviour.update { ($0.breaks, $0.mostOfRange, $0.ends) = ([300_000], most, ends) }
                try await program.download(1, server.url)
                let isSame = try data(try await program.end(of: 1)) == server.content
                #expect(isSame)
                #expect(server.ranges == [nil, "bytes=300000-", last])
            }
        }

        @Test("what is coded goes on by ranges of that, and is decoded when it is there", arguments: [false, true])
        func coded(isKept: Bool) async throws {
            try await withProgram() { harness, server, _, program in
                let plain = server.content
                guard case .bytes(let coded) = try ServerResponse.gzip(Array(plain)).body else { return }
                server.behaviour.update {
                    $0.content = coded
                    $0.coding = "gzip"
                    $0.breaks = [300_000, 200_000]
                }
                try await program.download(1, server.url) { $0.request.rules.keepsContentCodings = isKept }
                let end = try await program.end(of: 1)
                #expect(end.error == nil)
                let isAsWanted = try data(end) == (isKept ? Data(coded) : plain)
                #expect(isAsWanted)
                #expect(server.ranges == [nil, "bytes=300000-", "bytes=500000-"])
                try await program.takeAll(1)
                #expect(harness.files.isEmpty)
            }
        }

        /// Begins download 1, and returns when the server has stopped after `count` bytes. It goes on with the next request.
        private func downloadPart(_ count: Int, _ server: RangeServer, _ program: TestProgram) async throws {
            server.behaviour.update { $0.pausesAfter = count }
            try await program.download(1, server.url)
            await server.paused.wait()
            _ = await program.events.contents { $0.contains { $0.name == "progress" } }
            server.behaviour.update { $0.pausesAfter = nil }
        }

        @Test("what is suspended lets go of its connection, and goes on by ranges")
        func suspended() async throws {
            try await withProgram() { _, server, _, program in
                try await downloadPart(300_000, server, program)
                try await program.perform(.suspend(1))
                // The server has seen the connection close.
                await server.resumed.wait()
                try await program.perform(.resume(1))
                #expect(try data(try await program.end(of: 1)) == server.content)
                #expect(server.ranges.count == 2)
                #expect(server.ranges.last??.hasPrefix("bytes=") == true)
            }
        }

        @Test("another version of the resource is loaded whole", arguments: [true, false])
        func changed(_ hasRanges: Bool) async throws {
            try await withProgram() { harness, server, _, program in
                server.behaviour.update { $0.breaks = [300_000] }
                harness.randomness.value = 1
                try await program.download(1, server.url)
                await harness.pauses.count(reaches: 1)
                server.behaviour.update { behaviour in
                    behaviour.content = behaviour.content.reversed()
                    behaviour.entityTag = "\"2\""
                    behaviour.hasRanges = hasRanges
                }
                harness.pass(1)
                #expect(try data(try await program.end(of: 1)) == server.content)
                #expect(server.ranges == [nil, "bytes=300000-"])
            }
        }

        @Test("pauses grow while the server is down, and end with the resource's time")
        func pauses() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let peer = try ScriptedPeer([.expectRequest, .reset])
                harness.randomness.value = 1
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description { $0.timeoutIntervalForResource = 100 })
                try await program.download(1, peer.url())
                for (count, pause) in [1, 2, 4, 8, 16, 32].enumerated() {
                    await harness.pauses.count(reaches: count + 1)
                    harness.pass(pause - 1)
                    let overview = await service.overviewNow()
                    #expect(overview.first?.transfers.first?.stage == .backingOff)
                    harness.pass(1)
                }
                await harness.pauses.count(reaches: 7)
                peer.stop()
                harness.pass(37)
                let error = try await program.end(of: 1).error
                #expect(error?.code == URLError.timedOut.rawValue && error?.text?.contains("100") ?? false)
                try await program.takeAll(1)
                #expect(harness.files.isEmpty)
            }
        }

        @Test("pauses grow while each attempt gets only the first bytes again")
        func repeatedBeginning() async throws {
            try await withProgram { harness, server, service, program in
                server.behaviour.update { ($0.breaks, $0.hasRanges) = ([10, 10, 10, 10], false) }
                harness.randomness.value = 1
                try await program.download(1, server.url)
                for (count, pause) in [1, 2, 4].enumerated() {
                    await harness.pauses.count(reaches: count + 1)
                    // The loop has set the alarm for the end of the pause.
                    _ = await service.overviewNow()
                    harness.pass(pause - 1)
                    let overview = await service.overviewNow()
                    #expect(overview.first?.transfers.first?.stage == .backingOff)
                    harness.pass(1)
                }
                await harness.pauses.count(reaches: 4)
                _ = await service.overviewNow()
                harness.pass(8)
                #expect(try data(try await program.end(of: 1)) == server.content)
                #expect(server.ranges == [nil, "bytes=10-", "bytes=10-", "bytes=10-", "bytes=10-"])
            }
        }

        @Test("the request of a redirect is kept and told without its body")
        func redirectedBody() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let server = try LoopbackServer { request in
                    request.path == "/to"
                        ? .text("\(request.body.count)") : ServerResponse(307).adding("Location", "/to")
                }
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                try await program.download(1, server.url("/from")) {
                    $0.request.method = "POST"
                    $0.request.body = Data(count: 1000)
                }
                let end = try await program.end(of: 1)
                #expect(try data(end) == Data("1000".utf8))
                let next = try #require(end.currentRequest)
                #expect(next.url.hasSuffix("/to") && next.method == "POST" && next.body == nil)
                let told = program.events.snapshot.compactMap { event -> TransferRequest? in
                    if case .redirected(1, let request) = event { request } else { nil }
                }
                #expect(told == [next])
            }
        }

        @Test("an error status is the response, and is not tried again")
        func status() async throws {
            try await withProgram(count: 10) { _, server, _, program in
                server.behaviour.update { $0.status = 503 }
                try await program.download(1, server.url)
                let end = try await program.end(of: 1)
                #expect(end.error == nil && end.response?.head?.statusCode == 503)
                #expect(try data(end) == server.content)
                #expect(server.server.requests.count == 1)
            }
        }

        @Test("another process goes on with what is on the disk", arguments: [true, false])
        func restart(sameBoot: Bool) async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer())
                defer { server.stop() }
                try await stopAfterABreak(harness, server)
                if !sameBoot { harness.boot.value = "another" }
                let second = try harness.start()
                defer { second.stop() }
                let program = TestProgram(second, try harness.description())
                #expect(try await program.attached().transfers.map(\.identifier) == [1])
                #expect(try data(try await program.end(of: 1)) == server.content)
                // Nothing was put on the disk before the process ended: another start of the system may have anything there.
                #expect(server.ranges == [nil, sameBoot ? "bytes=400000-" : nil])
            }
        }

        @Test("a clock that is set for the first time between two processes ends no transfer")
        func firstSetting() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer())
                defer { server.stop() }
                let today = harness.wall.value
                harness.wall.value = Date(timeIntervalSince1970: 60)
                try await stopAfterABreak(harness, server)
                harness.wall.value = today
                let second = try harness.start()
                defer { second.stop() }
                let program = TestProgram(second, try harness.description())
                #expect(try data(try await program.end(of: 1)) == server.content)
            }
        }

        @Test("a folder of downloads that the program changes counts for what it begins when nothing is left")
        func changedFolder() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer())
                defer { server.stop() }
                let chosen = harness.folder.file("chosen").path
                try FileManager.default.createDirectory(atPath: chosen, withIntermediateDirectories: true)
                try await stopAfterABreak(harness, server)
                let second = try harness.start()
                defer { second.stop() }
                let program = TestProgram(
                    second, try harness.description { $0.backgroundDownloadFolder = URL(fileURLWithPath: chosen) })
                #expect(try data(try await program.end(of: 1)) == server.content)
                #expect(server.ranges == [nil, "bytes=400000-"])
                try await program.takeAll(1)
                program.channel.detach()
                let again = TestProgram(
                    second, try harness.description { $0.backgroundDownloadFolder = URL(fileURLWithPath: chosen) })
                try await again.download(2, server.url)
                let file = try #require(try await again.end(of: 2).file)
                #expect(file.hasPrefix(chosen + "/.loadkit-downloads/"))
            }
        }

        @Test(
            "a file whose removal was lost with the power is removed when its session is made anew",
            arguments: [false, true])
        func lostRemoval(isFolderChosen: Bool) async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                let chosen = harness.folder.file("chosen")
                try FileManager.default.createDirectory(at: chosen, withIntermediateDirectories: true)
                let description = try harness.description {
                    if isFolderChosen { $0.backgroundDownloadFolder = chosen }
                }
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, description)
                try await program.download(1, server.url)
                let file = URL(fileURLWithPath: try #require(try await program.end(of: 1).file))
                #expect(file.path.hasPrefix(chosen.path) == isFolderChosen)
                try await program.takeAll(1)
                program.channel.detach()
                #expect(!FileManager.default.fileExists(atPath: file.path))
                let folder = file.deletingLastPathComponent()
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                try Data("lost".utf8).write(to: file)
                let again = TestProgram(service, description)
                #expect(try await again.attached().transfers.isEmpty)
                #expect(!FileManager.default.fileExists(atPath: file.path))
            }
        }

        /// One synchronization for the part, one for the decoded file, and one for its folder: where that fails, the
        /// download has failed.
        @Test("the name of a decoded file is on the disk before the download has ended")
        func namesAreSynchronized() async throws {
            try await withProgram { _, server, service, program in
                guard case .bytes(let coded) = try ServerResponse.gzip(Array(server.content)).body else { return }
                server.behaviour.update { ($0.content, $0.coding) = (coded, "gzip") }
                service.loop.attach(FaultPlan(.fsync, .from(3), .fail(EIO)))
                try await program.download(1, server.url)
                #expect(try await program.end(of: 1).error?.code == URLError.cannotWriteToFile.rawValue)
            }
        }

        /// As after the return to an earlier version of the library.
        @Test("a session whose settings are not known keeps its transfers until the program makes it with others")
        func unknownSettings() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer())
                defer { server.stop() }
                let first = try harness.start()
                let before = TestProgram(first, try harness.description())
                try await before.download(1, server.url)
                #expect(try await before.end(of: 1).error == nil)
                server.behaviour.update { $0.breaks = [400_000] }
                harness.randomness.value = 1
                try await before.download(2, server.url)
                await harness.pauses.count(reaches: 1)
                first.stop()
                let journal = try harness.journal
                var session = try #require(try journal.load().sessions.first)
                var values = try CodedValue(encoding: session.description)
                values[path: ["settingOfALaterVersion"]] = .flag(true)
                session.description = try values.decoded(as: SessionDescription.self)
                try journal.commit([.session(session)])
                let second = try harness.start()
                defer { second.stop() }
                // Another session gets another number.
                let other = TestProgram(second, try harness.description("other"))
                #expect(try await other.attached().transfers.isEmpty)
                let program = TestProgram(second, try harness.description())
                #expect(try await program.attached().transfers.map(\.identifier) == [1, 2])
                for identifier in 1...2 {
                    let end = try await program.end(of: identifier)
                    #expect(end.error == nil)
                    #expect(try data(end) == server.content)
                }
                #expect(server.ranges == [nil, nil, "bytes=400000-"])
                #expect(try harness.journal.load().sessions.map(\.description.identifier).sorted() == ["other", "s"])
            }
        }

        @Test("bytes that are not those that the journal vouches for are loaded again")
        func damagedPart() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer())
                defer { server.stop() }
                try await stopAfterABreak(harness, server)
                let file = harness.folder.file("downloads").appendingPathComponent(try #require(harness.files.first))
                // Vouched for by a journal that was written before the bytes were changed.
                let journal = try harness.journal
                let key = TransferKey(session: 1, identifier: 1)
                var status = try #require(try journal.transfer(key)).status
                var checksums = PieceChecksums()
                try Data(contentsOf: file).withUnsafeBytes { checksums.update($0) }
                status.part?.count = 400_000
                status.part?.checksums = checksums.data
                try journal.commit([.status(key, status)])
                var bytes = try Data(contentsOf: file)
                bytes[1000] ^= 1
                try bytes.write(to: file)
                let second = try harness.start()
                defer { second.stop() }
                let program = TestProgram(second, try harness.description())
                #expect(try data(try await program.end(of: 1)) == server.content)
                #expect(server.ranges == [nil, nil])
            }
        }

        @Test("a process that was killed when all was there loads nothing again")
        func complete() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer())
                defer { server.stop() }
                try await stopAfterABreak(harness, server)
                let file = harness.folder.file("downloads").appendingPathComponent(try #require(harness.files.first))
                try server.content.write(to: file)
                let second = try harness.start()
                defer { second.stop() }
                let end = try await TestProgram(second, try harness.description()).end(of: 1)
                #expect(end.error == nil && end.response?.head?.statusCode == 200)
                #expect(try data(end) == server.content)
                #expect(server.sent.value == 400_000)
            }
        }

        @Test(
            "a full disk is waited for, and a used quota, also for the folder",
            arguments: [
                (.init(.pwrite, .from(2), .fail(ENOSPC)), "disk is full"),
                (.init(.mkdir, .from(1), .fail(ENOSPC)), "disk is full"),
                (.init(.mkdir, .from(1), .fail(EDQUOT)), "quota is used up"),
            ] as [(FaultPlan.Entry, String)])
        func fullDisk(fault: FaultPlan.Entry, text: String) async throws {
            try await withProgram() { harness, server, service, program in
                harness.randomness.value = 1
                _ = try await program.attached()
                service.loop.attach(FaultPlan([fault]))
                try await program.download(1, server.url)
                await harness.pauses.count(reaches: 1)
                let overview = await service.overviewNow()
                #expect(overview.first?.transfers.first?.status.error?.text?.contains(text) ?? false)
                service.loop.attach(nil)
                harness.pass(1)
                #expect(try data(try await program.end(of: 1)) == server.content)
            }
        }

        @Test("a destination is never replaced, and gets the file without the program")
        func destination() async throws {
            try await withProgram() { harness, server, service, program in
                let (free, taken) = (harness.folder.file("free"), try harness.folder.write("mine", to: "taken"))
                try await program.download(1, server.url) { $0.destination = free.path }
                try await program.download(2, server.url) { $0.destination = taken.path }
                let (first, second) = (try await program.end(of: 1), try await program.end(of: 2))
                #expect(first.error == nil && first.file == nil)
                #expect(try Data(contentsOf: free) == server.content)
                #expect(second.error?.code == URLError.cannotMoveFile.rawValue)
                #expect(try Data(contentsOf: taken) == Data("mine".utf8))
                #expect(await service.overviewNow().first?.transfers.map(\.identifier) == [2])
                try await program.takeAll(2)
            }
        }

        @Test("cancelling gives resume data, which another download goes on from")
        func resumeData() async throws {
            try await withProgram() { harness, server, _, program in
                server.behaviour.update { $0.breaks = [400_000] }
                harness.randomness.value = 1
                try await program.download(1, server.url)
                await harness.pauses.count(reaches: 1)
                try await program.perform(.cancel(1, producingResumeData: true))
                let error = try await program.end(of: 1).error
                #expect(error?.code == URLError.cancelled.rawValue)
                let data = try #require(error?.resumeData)
                try await program.takeAll(1)
                #expect(harness.files.isEmpty)
                try await program.download(2, server.url) { $0.resumeData = data }
                #expect(try self.data(try await program.end(of: 2)) == server.content)
                #expect(server.ranges == [nil, "bytes=400000-"])
                #expect(
                    program.events.snapshot.contains {
                        if case .didResume(2, 400_000, 1_000_000) = $0 { true } else { false }
                    })
                try await program.takeAll(2)
            }
        }

        @Test("the end of the resource's time gives resume data, which another download goes on from")
        func resumeDataOfTimeout() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer())
                defer { server.stop() }
                server.behaviour.update { $0.breaks = [400_000] }
                harness.randomness.value = 1
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description { $0.timeoutIntervalForResource = 100 })
                try await program.download(1, server.url)
                await harness.pauses.count(reaches: 1)
                // The loop has set the alarm for the end of the pause.
                _ = await service.overviewNow()
                harness.pass(101)
                let error = try await program.end(of: 1).error
                #expect(error?.code == URLError.timedOut.rawValue)
                let data = try #require(error?.resumeData)
                try await program.takeAll(1)
                #expect(harness.files.isEmpty)
                try await program.download(2, server.url) { $0.resumeData = data }
                #expect(try self.data(try await program.end(of: 2)) == server.content)
                #expect(server.ranges == [nil, "bytes=400000-"])
            }
        }

        @Test("a disk that fails gives resume data, which another download goes on from")
        func resumeDataOfFailure() async throws {
            try await withProgram { harness, server, service, program in
                _ = try await program.attached()
                service.loop.attach(FaultPlan(.pwrite, .from(2), .fail(EIO)))
                try await program.download(1, server.url)
                let error = try await program.end(of: 1).error
                service.loop.attach(nil)
                #expect(error?.code == URLError.cannotWriteToFile.rawValue)
                let data = try #require(error?.resumeData)
                try await program.takeAll(1)
                #expect(harness.files.isEmpty)
                try await program.download(2, server.url) { $0.resumeData = data }
                #expect(try self.data(try await program.end(of: 2)) == server.content)
                #expect(server.ranges.last??.hasPrefix("bytes=") == true)
            }
        }

        @Test(
            "a part that the temporary folder cannot take stays, and another download goes on from it",
            arguments: [
                [.init(.rename, .nth(1), .fail(ENOSPC))],
                // The folder is on another file system, which is full.
                [.init(.rename, .nth(1), .fail(EXDEV)), .init(.fsync, .from(1), .fail(ENOSPC))],
            ] as [[FaultPlan.Entry]])
        func fullTemporaryFolder(faults: [FaultPlan.Entry]) async throws {
            try await withProgram { harness, server, service, program in
                server.behaviour.update { $0.breaks = [400_000] }
                harness.randomness.value = 1
                try await program.download(1, server.url)
                await harness.pauses.count(reaches: 1)
                let plan = FaultPlan(faults)
                service.loop.attach(plan)
                try await program.perform(.cancel(1, producingResumeData: true))
                let data = try #require(try await program.end(of: 1).error?.resumeData)
                service.loop.attach(nil)
                #expect(plan.injectedCount == faults.count)
                try await program.takeAll(1)
                #expect(harness.files.isEmpty)
                // Another service makes the session anew, and has looked for forgotten files.
                service.stop()
                let second = try harness.start()
                defer { second.stop() }
                let again = TestProgram(second, try harness.description())
                try await again.download(2, server.url) { $0.resumeData = data }
                #expect(try self.data(try await again.end(of: 2)) == server.content)
                #expect(server.ranges == [nil, "bytes=400000-"])
            }
        }

        @Test("what cannot be decoded is not gone on with")
        func noResumeDataOfDecoding() async throws {
            try await withProgram { harness, server, _, program in
                server.behaviour.update { $0.coding = "gzip" }
                try await program.download(1, server.url)
                let error = try #require(try await program.end(of: 1).error)
                #expect(error.code == URLError.cannotDecodeRawData.rawValue && error.resumeData == nil)
                try await program.takeAll(1)
                #expect(harness.files.isEmpty)
            }
        }

        /// Why a download with resume data cannot continue.
        enum Beginning: CaseIterable {
            case anotherVersion
            case noFile
        }

        @Test(
            "a download from resume data that begins anew is told as one that resumes at 0",
            arguments: Beginning.allCases)
        func beginsAnew(_ reason: Beginning) async throws {
            try await withProgram() { harness, server, _, program in
                server.behaviour.update { $0.breaks = [400_000] }
                harness.randomness.value = 1
                try await program.download(1, server.url)
                await harness.pauses.count(reaches: 1)
                try await program.perform(.cancel(1, producingResumeData: true))
                let data = try #require(try await program.end(of: 1).error?.resumeData)
                try await program.takeAll(1)
                switch reason {
                case .anotherVersion:
                    server.behaviour.update { ($0.content, $0.entityTag) = ($0.content.reversed(), "\"2\"") }
                case .noFile:
                    let name = try ResumeData(data).fileName
                    try FileManager.default.removeItem(atPath: try DownloadFolder.shared.path(of: name))
                }
                try await program.download(2, server.url) { $0.resumeData = data }
                #expect(try self.data(try await program.end(of: 2)) == server.content)
                #expect(server.ranges == [nil, reason == .noFile ? nil : "bytes=400000-"])
                let offsets = program.events.snapshot.compactMap { event -> Int64? in
                    if case .didResume(2, let offset, 1_000_000) = event { offset } else { nil }
                }
                #expect(offsets == [0])
            }
        }

        /// As where the session is invalidated at once, or the daemon has lost the connection and gets the command again.
        @Test("cancelling once more takes nothing from the resume data", arguments: [false, true])
        func cancelledTwice(producingResumeData: Bool) async throws {
            try await withProgram() { _, server, service, program in
                try await downloadPart(400_000, server, program)
                // In one turn of the loop: the second command comes before the file was handed over.
                service.loop.execute {
                    for session in service.sessions.values {
                        for produces in [true, producingResumeData] {
                            service.perform(.cancel(1, producingResumeData: produces), nil, session) { _ in }
                        }
                    }
                }
                let error = try await program.end(of: 1).error
                #expect(error?.code == URLError.cancelled.rawValue)
                let data = try #require(error?.resumeData)
                try await program.takeAll(1)
                try await program.download(2, server.url) { $0.resumeData = data }
                #expect(try self.data(try await program.end(of: 2)) == server.content)
                #expect(server.ranges.last??.hasPrefix("bytes=") == true)
            }
        }

        @Test("cancelling gives resume data also while the file is being completed, and it names the file")
        func resumeDataOfCompletion() async throws {
            try await withProgram() { harness, server, service, program in
                try await downloadPart(400_000, server, program)
                // In one turn of the loop: the command comes before the file is on the disk.
                service.loop.execute {
                    for session in service.sessions.values {
                        guard let transfer = session.transfers[1] else { continue }
                        service.input(transfer) { $0.attemptDidSucceed() }
                        service.perform(.cancel(1, producingResumeData: true), nil, session) { _ in }
                    }
                }
                let error = try await program.end(of: 1).error
                #expect(error?.code == URLError.cancelled.rawValue)
                let data = try #require(error?.resumeData)
                try await program.takeAll(1)
                #expect(harness.files.isEmpty)
                try await program.download(2, server.url) { $0.resumeData = data }
                #expect(try self.data(try await program.end(of: 2)) == server.content)
                #expect(server.ranges.last??.hasPrefix("bytes=") == true)
                try await program.takeAll(2)
            }
        }
    }
#endif

extension TransferService {
    func overviewNow() async -> [SessionOverview] {
        await withCheckedContinuation { done in overview { done.resume(returning: $0) } }
    }
}
