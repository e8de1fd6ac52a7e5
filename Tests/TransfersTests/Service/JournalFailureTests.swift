import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPersistence
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

#if Persistence
    /// What the service does while its journal cannot be written: the disk is full, or its folder can only be read.
    @Suite("A journal that cannot be written")
    struct JournalFailureTests {
        /// A journal that can be made to refuse changes.
        private final class FailingJournal: TransferJournal {
            let journal: any TransferJournal
            let fails = Box(false)
            let failsToRead = Box(false)
            /// Whether the ends of downloads that have been put at their destinations fail, with all later changes.
            let failsToForget = Box(false)
            /// The transfers whose requests cannot be stored.
            let refused = Box<Set<Int>>([])
            /// How many changes each commit has had.
            let commits = Recorder<Int>()

            init(_ journal: any TransferJournal) { self.journal = journal }

            func load() throws -> JournalContents { try journal.load() }
            func transfer(_ key: TransferKey) throws -> TransferRecord? {
                if failsToRead.value { throw URLError(.cannotOpenFile) }
                return try journal.transfer(key)
            }
            func transfers(
                of session: Int64, _ transform: (TransferRecord) -> TransferRecord
            ) throws -> [TransferRecord] { try journal.transfers(of: session, transform) }

            func commit(_ changes: [JournalChange]) throws {
                defer { commits.append(changes.count) }
                let failsNow = fails.value || failsToForget.value && changes.contains(where: \.isForgetting)
                if failsNow { throw URLError(.cannotWriteToFile) }
                let refused = refused.value
                if let index = changes.firstIndex(where: { $0.requesting.map(refused.contains) ?? false }) {
                    throw RefusedChange(index: index, error: URLError(.dataLengthExceedsMaximum))
                }
                try journal.commit(changes)
            }
        }

        @Test("a session is attached, and what it begins fails with the reason")
        func beginning() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                let journal = FailingJournal(try harness.journal)
                journal.fails.value = true
                let service = try harness.start(journal)
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                #expect(try await program.attached().transfers.isEmpty)
                await #expect(throws: URLError.self) { try await program.download(1, server.url) }
                #expect(server.server.requests.count == 0 && harness.files.isEmpty)
                journal.fails.value = false
                try await program.download(2, server.url)
                #expect(try await program.end(of: 2).error == nil)
            }
        }

        @Test("an end is told when it is kept, also to a program that comes meanwhile")
        func ending() async throws {
            try await withFailingJournal { harness, server, service, journal in
                let first = TestProgram(service, try harness.description())
                let date = harness.wall.value.addingTimeInterval(10)
                try await first.download(1, server.url) { $0.earliestBeginDate = date }
                first.channel.detach()
                #expect(await service.overviewNow().first?.isAttached == false)
                journal.fails.value = true
                let commits = journal.commits.count
                let cancelled = Task { try await service.controlNow("s", .cancel(1, producingResumeData: false)) }
                await journal.commits.count(reaches: commits + 1)
                let second = TestProgram(service, try harness.description())
                #expect(try await second.attached().transfers.map(\.identifier) == [1])
                await _ = second.events.contents { $0.contains { $0.name == "deliveredEarlierEvents" } }
                #expect(!second.events.snapshot.contains { $0.endedTransfer == 1 })
                journal.fails.value = false
                harness.pass(5)
                try await cancelled.value
                #expect(try await second.end(of: 1).error?.code == URLError.cancelled.rawValue)
                #expect(second.events.snapshot.count { $0.endedTransfer == 1 } == 1)
            }
        }

        /// A process that knows nothing of the end sends the file again.
        @Test("the copy of an upload's file stays until its end is kept", arguments: ["", "an answer"])
        func copyOfAFile(answer: String) async throws {
            try await withTimeout {
                let (harness, bodies) = (try ServiceHarness(), Recorder<Int>())
                let server = try LoopbackServer { request in
                    bodies.append(request.body.count)
                    return .text(answer)
                }
                defer { server.stop() }
                let file = try harness.folder.write(Data(count: 1000), to: "file")
                let journal = FailingJournal(try harness.journal)
                let first = try harness.start(journal)
                let program = TestProgram(first, try harness.description())
                let date = harness.wall.value.addingTimeInterval(10)
                try await program.upload(1, file.path, to: server.url()) { $0.earliestBeginDate = date }
                program.channel.detach()
                #expect(await first.overviewNow().first?.isAttached == false)
                journal.fails.value = true
                harness.pass(10)
                await bodies.count(reaches: 1)
                try await first.untilNothingIsBusy()
                first.stop()
                try FileManager.default.removeItem(at: file)
                let second = try harness.start()
                defer { second.stop() }
                let again = TestProgram(second, try harness.description())
                #expect(try await again.end(of: 1).error == nil)
                #expect(bodies.snapshot == [1000, 1000])
                try await again.takeAll(1)
                #expect(harness.files.isEmpty)
            }
        }

        /// The file at the destination and the part are the same file.
        @Test("a file at its destination stays as it is where its end was not kept", arguments: [false, true])
        func placedFile(isCoded: Bool) async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                let plain = server.content
                if isCoded {
                    guard case .bytes(let coded) = try ServerResponse.gzip(Array(plain)).body else {
                        Issue.record("The coded content is not a body of bytes.")
                        return
                    }
                    server.behaviour.update { ($0.content, $0.coding) = (coded, "gzip") }
                }
                let journal = FailingJournal(try harness.journal)
                journal.failsToForget.value = true
                let first = try harness.start(journal)
                let destination = harness.folder.file("destination")
                try await TestProgram(first, try harness.description()).download(1, server.url) {
                    $0.destination = destination.path
                }
                try await first.untilNothingIsBusy()
                first.stop()
                #expect(try Data(contentsOf: destination) == plain)
                server.behaviour.update { $0.status = 404 }
                let second = try harness.start()
                defer { second.stop() }
                let again = TestProgram(second, try harness.description())
                let end = try await again.end(of: 1)
                #expect(end.error == nil && end.file == nil)
                #expect(try Data(contentsOf: destination) == plain)
                #expect(server.server.requests.count == 1)
                try await waitUntil { harness.files.isEmpty }
            }
        }

        @Test("the service is not idle while the journal lacks an end")
        func idleness() async throws {
            try await withFailingJournal { harness, server, service, journal in
                let changes = Recorder<Bool>()
                service.observeIdleness { changes.append($0) }
                let program = TestProgram(service, try harness.description())
                let date = harness.wall.value.addingTimeInterval(10)
                try await program.download(1, server.url) { $0.earliestBeginDate = date }
                program.channel.detach()
                #expect(await service.overviewNow().first?.isAttached == false)
                journal.fails.value = true
                harness.pass(10)
                await server.server.requests.count(reaches: 1)
                try await service.untilNothingIsBusy()
                #expect(changes.last == false)
                journal.fails.value = false
                harness.pass(5)
                await _ = changes.contents { $0.last == true }
                #expect(try journal.load().transfers.first?.endNumber == 1)
            }
        }

        @Test("a transfer that cannot be read for a moment is tried again")
        func reading() async throws {
            try await withFailingJournal { harness, server, service, journal in
                harness.randomness.value = 1
                let program = TestProgram(service, try harness.description())
                journal.failsToRead.value = true
                // Such a body is not kept in memory.
                try await program.download(1, server.url) {
                    $0.request.method = "POST"
                    $0.request.body = Data(count: 100_000)
                }
                await harness.pauses.count(reaches: 1)
                #expect(await service.overviewNow().first?.transfers.first?.stage == .backingOff)
                journal.failsToRead.value = false
                harness.pass(1)
                #expect(try await program.end(of: 1).error == nil)
            }
        }

        @Test("an end that was taken is not told again while the journal has it still")
        func takenEnd() async throws {
            try await withFailingJournal { harness, server, service, journal in
                let first = TestProgram(service, try harness.description())
                let date = harness.wall.value.addingTimeInterval(10)
                try await first.download(1, "http://127.0.0.1:1/") { $0.earliestBeginDate = date }
                try await first.download(2, server.url)
                #expect(try await first.end(of: 2).error == nil)
                journal.fails.value = true
                let commits = journal.commits.count
                first.channel.send(.take(2, .completion))
                await journal.commits.count(reaches: commits + 1)
                first.channel.detach()
                let second = TestProgram(service, try harness.description())
                #expect(try await second.attached().transfers.map(\.identifier) == [1])
                journal.fails.value = false
                // The command is performed after the earlier changes.
                try await second.download(3, server.url) { $0.earliestBeginDate = date }
                #expect(try journal.load().transfers.map(\.key.identifier) == [1, 3])
            }
        }

        private func withFailingJournal(
            _ body:
                @escaping @Sendable (ServiceHarness, RangeServer, TransferService, FailingJournal) async throws -> Void
        ) async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                let journal = FailingJournal(try harness.journal)
                let service = try harness.start(journal)
                defer { service.stop() }
                try await body(harness, server, service, journal)
            }
        }

        @Test("a change that cannot be stored fails alone")
        func refusal() async throws {
            try await withFailingJournal { harness, server, service, journal in
                let first = TestProgram(service, try harness.description("a"))
                let second = TestProgram(service, try harness.description("b"))
                let date = harness.wall.value.addingTimeInterval(10)
                try await first.download(1, server.url) { $0.earliestBeginDate = date }
                // Beside other changes of the same commit.
                journal.refused.value = [1, 2]
                try await first.perform(.change(1, priority: 1, taskDescription: "text"))
                #expect(try journal.load().transfers.first?.priority == 1)
                let url = try #require(URL(string: server.url))
                let request = try #require(TransferRequest(URLRequest(url: url)))
                let results = Recorder<String>()
                service.loop.execute {
                    for (program, identifier) in [(first, 2), (second, 3)] {
                        let record = TransferRecord(identifier: identifier, kind: .download, request: request)
                        program.channel.send(.begin(record), descriptors: []) { error in
                            results.append("\(identifier): \((error as? URLError)?.code.rawValue ?? 0)")
                        }
                    }
                }
                let all = await results.count(reaches: 2)
                #expect(Set(all) == ["2: \(URLError.Code.dataLengthExceedsMaximum.rawValue)", "3: 0"])
                #expect(try await second.end(of: 3).error == nil)
                #expect(try journal.load().transfers.map(\.key.identifier).sorted() == [1, 3])
            }
        }

        @Test("what changes again and again is kept once")
        func heaps() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let journal = FailingJournal(try harness.journal)
                let service = try harness.start(journal)
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                let date = harness.wall.value.addingTimeInterval(10)
                try await program.download(1, "http://127.0.0.1:1/") { $0.earliestBeginDate = date }
                journal.fails.value = true
                for round in 1...100 {
                    program.channel.send(.change(1, priority: Float(round) / 100, taskDescription: nil))
                }
                // All of them have been tried to be written then, in one commit or several.
                _ = await service.overviewNow()
                let before = journal.commits.count
                harness.pass(5)
                let all = await journal.commits.count(reaches: before + 1)
                // The priority and the description.
                #expect(try #require(all.last) <= 3)
                journal.fails.value = false
                let now = journal.commits.count
                harness.pass(5)
                await journal.commits.count(reaches: now + 1)
                #expect(try journal.load().transfers.first?.priority == 1)
            }
        }
    }

    extension JournalChange {
        /// Whether the change removes a transfer.
        fileprivate var isForgetting: Bool { if case .forget = self { true } else { false } }

        /// The transfer whose request the change stores.
        fileprivate var requesting: Int? {
            switch self {
            case .begin(let row, _): row.key.identifier
            case .record(let key, _): key.identifier
            case .session, .forgetSession, .row, .status, .forget: nil
            }
        }
    }

    extension TransferService {
        /// Returns when no transfer has work to do, and what followed from the last one's end is done.
        fileprivate func untilNothingIsBusy() async throws {
            try await waitUntil { await busyNow() == 0 }
            for _ in 0..<2 { _ = await busyNow() }
        }

        private func busyNow() async -> Int {
            await withCheckedContinuation { done in loop.execute { done.resume(returning: self.busyCount) } }
        }

        fileprivate func controlNow(_ session: String, _ command: TransferCommand) async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                control(session: session, command) { error in
                    if let error { continuation.resume(throwing: error) } else { continuation.resume() }
                }
            }
        }
    }
#endif
