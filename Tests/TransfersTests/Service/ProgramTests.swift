import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

#if Persistence
    /// What passes between the service and programs that come and go.
    @Suite("Programs of the service")
    struct ProgramTests {
        @Test("what ended while nobody was there is told in order, until it is taken")
        func earlierEnds() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                let service = try harness.start()
                let first = TestProgram(service, try harness.description())
                for identifier in [2, 1, 3] {
                    try await first.download(identifier, server.url)
                    _ = try await first.end(of: identifier)
                }
                try await first.perform(.take(1, .content))
                first.channel.detach()
                // In another process.
                service.stop()
                let next = try harness.start()
                defer { next.stop() }
                let second = TestProgram(next, try harness.description())
                let state = try await second.attached()
                #expect(state.nextIdentifier == 4 && state.transfers.map(\.identifier) == [1, 2, 3])
                let events = await second.events.contents { $0.last?.name == "deliveredEarlierEvents" }
                #expect(events.compactMap(\.endedTransfer) == [2, 1, 3])
                #expect(try await second.end(of: 1).next == .metrics)
                #expect(try await second.end(of: 2).next == .content)
                for identifier in 1...3 { try await second.takeAll(identifier) }
                second.channel.detach()
                let third = TestProgram(next, try harness.description())
                #expect(try await third.attached().transfers.isEmpty)
                #expect(harness.files.isEmpty)
            }
        }

        @Test("a transfer whose program has ended while it began is told to the program's next run")
        func beginningOfAnEndedProgram() async throws {
            try await withTimeout {
                let (harness, runs) = (try ServiceHarness(), Recorder<TestProgram>())
                let server = try LoopbackServer { _ in .text("hello") }
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let description = try harness.description()
                let first = TestProgram(service, description)
                let date = harness.wall.value.addingTimeInterval(10)
                try await first.download(1, server.url()) { $0.earliestBeginDate = date }
                let request = URLRequest(url: try #require(URL(string: server.url())))
                var upload = TransferRecord(
                    identifier: 2, kind: .upload, request: try #require(TransferRequest(request)))
                upload.request.method = "PUT"
                upload.uploadFile = try harness.folder.write(Data(count: 1000), to: "file").path
                // In one turn of the loop: the next run is attached before the file was copied.
                service.loop.execute { [upload] in
                    first.channel.send(.begin(upload))
                    first.channel.detach()
                    runs.append(TestProgram(service, description))
                }
                guard let second = await runs.count(reaches: 1).first else { throw CancellationError() }
                #expect(try await second.end(of: 2).error == nil)
                var found: [[Int]] = []
                for case .attached(let state) in second.events.snapshot {
                    found.append(state.transfers.map(\.identifier))
                }
                #expect(found == [[1], [1, 2]])
                let names = second.events.snapshot.map(\.name).filter {
                    $0 == "attached" || $0 == "deliveredEarlierEvents"
                }
                #expect(names == ["attached", "deliveredEarlierEvents", "attached", "deliveredEarlierEvents"])
            }
        }

        @Test("it is idle again where a transfer's program has ended before it had begun")
        func endBeforeTheBeginning() async throws {
            try await withTimeout {
                let (harness, changes) = (try ServiceHarness(), Recorder<Bool>())
                let service = try harness.start()
                defer { service.stop() }
                service.observeIdleness { changes.append($0) }
                let program = TestProgram(service, try harness.description())
                _ = try await program.attached()
                let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
                let record = TransferRecord(
                    identifier: 1, kind: .download, request: try #require(TransferRequest(request)))
                // In one turn of the loop: the session is forgotten before the transfer is in the journal.
                service.loop.execute {
                    program.channel.send(.begin(record))
                    program.channel.detach()
                }
                #expect(await changes.count(reaches: 3) == [true, false, true])
                #expect(try harness.journal.load().transfers.isEmpty)
            }
        }

        @Test("a session is attached once; of other programs with its identifier it knows nothing")
        func alone() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let service = try harness.start()
                defer { service.stop() }
                let first = TestProgram(service, try harness.description())
                _ = try await first.attached()
                let second = TestProgram(service, try harness.description())
                await #expect(throws: URLError.self) { try await second.attached() }
                guard case .detached(let error)? = second.events.last else { throw CancellationError() }
                #expect(error.code == URLError.backgroundSessionInUseByAnotherProcess.rawValue)
                _ = try await TestProgram(service, try harness.description(program: "/other")).attached()
                first.channel.detach()
                _ = try await TestProgram(service, try harness.description()).attached()
            }
        }

        @Test(
            "identifiers of every kind",
            arguments: ["a/../b", "a\u{0}b", String(repeating: "長", count: 10_000), "", "."])
        func identifiers(_ identifier: String) async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                let service = try harness.start()
                let program = TestProgram(service, try harness.description(identifier))
                try await program.download(1, server.url)
                #expect(try await program.end(of: 1).error == nil)
                service.stop()
                let second = try harness.start()
                defer { second.stop() }
                let again = TestProgram(second, try harness.description(identifier))
                #expect(try await again.attached().transfers.count == 1)
                try await again.takeAll(1)
                #expect(harness.files.isEmpty)
            }
        }

        @Test("a transfer with a date begins then, when the program has answered")
        func dates() async throws {
            try await withProgram(count: 10) { harness, server, service, program in
                let date = harness.wall.value.addingTimeInterval(3600)
                for identifier in 1...3 {
                    try await program.download(identifier, server.url) { $0.earliestBeginDate = date }
                }
                harness.pass(3599)
                #expect(await service.overviewNow().first?.transfers.allSatisfy { $0.stage == .queued } ?? false)
                #expect(!program.events.snapshot.contains { $0.name == "willBegin" })
                harness.pass(60)
                await _ = program.events.contents { $0.count { $0.name == "willBegin" } == 3 }
                let other = try #require(URL(string: server.server.url("/other")))
                try await program.perform(.answerBeginning(1, TransferRequest(URLRequest(url: other))))
                try await program.perform(.answerBeginning(2, nil))
                #expect(try await program.end(of: 1).error == nil)
                #expect(try await program.end(of: 2).error?.code == URLError.cancelled.rawValue)
                #expect(server.server.requests.snapshot.map(\.target) == ["/other"])
                // Nobody answers for the third any more.
                program.channel.detach()
                await server.server.requests.count(reaches: 2)
            }
        }

        @Test(
            "a transfer whose date has come before it is begun waits for the program's answer",
            arguments: [0, -3600] as [TimeInterval])
        func pastDate(seconds: TimeInterval) async throws {
            try await withProgram(count: 10) { harness, server, service, program in
                let date = harness.wall.value.addingTimeInterval(seconds)
                for identifier in 1...2 {
                    try await program.download(identifier, server.url) { $0.earliestBeginDate = date }
                }
                await _ = program.events.contents { $0.count { $0.name == "willBegin" } == 2 }
                #expect(await service.overviewNow().first?.transfers.map(\.stage) == [.queued, .queued])
                #expect(server.server.requests.count == 0)
                let other = try #require(URL(string: server.server.url("/other")))
                try await program.perform(.answerBeginning(1, TransferRequest(URLRequest(url: other))))
                #expect(try await program.end(of: 1).error == nil)
                #expect(server.server.requests.snapshot.map(\.target) == ["/other"])
                // Nobody answers for the second any more.
                program.channel.detach()
                await server.server.requests.count(reaches: 2)
            }
        }

        @Test("the session's credentials are for a request that the program gives, and not for a redirect's target")
        func credentialsOfAnswers() async throws {
            try await withProgram(count: 10) { harness, server, service, _ in
                let description = try harness.description("credentials") {
                    $0.httpAdditionalHeaders = ["Authorization": "Bearer t"]
                }
                let program = TestProgram(service, description)
                let date = harness.wall.value.addingTimeInterval(-10)
                for identifier in 1...2 {
                    try await program.download(identifier, server.url) {
                        $0.earliestBeginDate = date
                        $0.firstURL = URL(string: "http://elsewhere.example/")
                    }
                }
                await _ = program.events.contents { $0.count { $0.name == "willBegin" } == 2 }
                for (identifier, path) in [(1, "/file"), (2, "/other")] {
                    let url = try #require(URL(string: server.server.url(path)))
                    try await program.perform(.answerBeginning(identifier, TransferRequest(URLRequest(url: url))))
                    #expect(try await program.end(of: identifier).error == nil)
                }
                let sent = server.server.requests.snapshot.map { $0.fields[name: "Authorization"] ?? "none" }
                #expect(sent == ["none", "Bearer t"])
            }
        }

        @Test("an answer whose body is too long to be kept ends the transfer")
        func longAnswer() async throws {
            try await withProgram(count: 10) { harness, server, _, program in
                let date = harness.wall.value.addingTimeInterval(-10)
                try await program.download(1, server.url) { $0.earliestBeginDate = date }
                await _ = program.events.contents { $0.contains { $0.name == "willBegin" } }
                var request = URLRequest(url: try #require(URL(string: server.url)))
                request.httpBody = Data(count: BackgroundRules.longestBody + 1)
                try await program.perform(.answerBeginning(1, TransferRequest(request)))
                let end = try await program.end(of: 1)
                #expect(end.error?.code == URLError.Code.dataLengthExceedsMaximum.rawValue)
                #expect(server.server.requests.count == 0)
            }
        }

        @Test(
            "a request without a time limit is kept, and holds up no other session",
            arguments: [.infinity, .nan] as [TimeInterval])
        func timeLimits(timeout: TimeInterval) async throws {
            try await withProgram(count: 10) { harness, server, service, program in
                let date = harness.wall.value.addingTimeInterval(10)
                try await program.download(1, server.url) { $0.earliestBeginDate = date }
                // The service has added the transfer, which is kept in the journal.
                #expect(await service.overviewNow().first?.transfers.count == 1)
                harness.pass(10)
                await _ = program.events.contents { $0.contains { $0.name == "willBegin" } }
                var request = URLRequest(url: try #require(URL(string: server.server.url("/other"))))
                request.timeoutInterval = timeout
                try await program.perform(.answerBeginning(1, TransferRequest(request)))
                let other = TestProgram(service, try harness.description("other"))
                try await other.download(1, server.url) { $0.request.rules.timeout = timeout }
                #expect(try await other.end(of: 1).error == nil)
                #expect(try await program.end(of: 1).error == nil)
                #expect(Set(server.server.requests.snapshot.map(\.target)) == ["/file", "/other"])
            }
        }

        @Test("a priority that is no number is the usual one, and none is out of its range")
        func priorities() async throws {
            try await withProgram(count: 10) { harness, server, _, program in
                let date = harness.wall.value.addingTimeInterval(10)
                let cases: [(Float, Float)] = [(.nan, 0.5), (.infinity, 1), (-1, 0)]
                for (index, (asked, _)) in cases.enumerated() {
                    try await program.download(index + 1, server.url) {
                        ($0.earliestBeginDate, $0.priority) = (date, asked)
                    }
                }
                #expect(try harness.journal.load().transfers.map(\.priority) == cases.map(\.1))
                for (asked, expected) in cases {
                    try await program.perform(.change(1, priority: asked, taskDescription: nil))
                    #expect(try harness.journal.load().transfers.first?.priority == expected)
                }
            }
        }

        @Test(
            "questions of transfers wait for a program that was attached to an earlier process",
            arguments: [true, false])
        func awaitedProgram(returns: Bool) async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                let first = try harness.start()
                let program = TestProgram(first, try harness.description())
                let date = harness.wall.value.addingTimeInterval(10)
                try await program.download(1, server.url) { $0.earliestBeginDate = date }
                first.stop()
                harness.pass(20)
                let second = try harness.start()
                defer { second.stop() }
                for _ in 0..<2 {
                    #expect(await second.overviewNow().first?.transfers.first?.stage == .queued)
                }
                guard returns else {
                    // It begins without the program.
                    harness.pass(10)
                    await server.server.requests.count(reaches: 1)
                    return
                }
                let again = TestProgram(second, try harness.description())
                await _ = again.events.contents { $0.contains { $0.name == "willBegin" } }
                let other = try #require(URL(string: server.server.url("/other")))
                try await again.perform(.answerBeginning(1, TransferRequest(URLRequest(url: other))))
                #expect(try await again.end(of: 1).error == nil)
                #expect(server.server.requests.snapshot.map(\.target) == ["/other"])
            }
        }

        @Test("the service is not idle while it waits for the program of an earlier process")
        func awaitedWithoutWork() async throws {
            try await withTimeout {
                let (harness, changes) = (try ServiceHarness(), Recorder<Bool>())
                let first = try harness.start()
                let program = TestProgram(first, try harness.description())
                let date = harness.wall.value.addingTimeInterval(1000)
                try await program.download(1, "http://127.0.0.1:9/") { $0.earliestBeginDate = date }
                try await program.perform(.suspend(1))
                first.stop()
                let second = try harness.start()
                defer { second.stop() }
                second.observeIdleness { changes.append($0) }
                #expect(await changes.element(at: 0) == false)
                harness.pass(10)
                #expect(await changes.element(at: 1) == true)
            }
        }

        @Test("a discretionary transfer waits for the program of an earlier process no longer than other transfers do")
        func discretionOfAnAwaitedProgram() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                harness.randomness.value = 0.1
                let first = try harness.start()
                let program = TestProgram(first, try harness.description { $0.isDiscretionary = true })
                try await program.download(1, server.url)
                first.stop()
                let second = try harness.start()
                defer { second.stop() }
                #expect(await second.overviewNow().first?.transfers.first?.stage == .queued)
                harness.pass(6)
                await harness.conditionLooks.count(reaches: 1)
                for _ in 0..<2 {
                    #expect(await second.overviewNow().first?.transfers.first?.stage == .queued)
                }
                harness.pass(4)
                await server.server.requests.count(reaches: 1)
            }
        }

        @Test("another process does not ask again whether a transfer begins")
        func answeredBeginning() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer())
                defer { server.stop() }
                server.behaviour.update { $0.breaks = [400_000] }
                harness.randomness.value = 1
                let first = try harness.start()
                let program = TestProgram(first, try harness.description())
                let date = harness.wall.value.addingTimeInterval(10)
                try await program.download(1, server.url) { $0.earliestBeginDate = date }
                // The service has added the transfer, which is kept in the journal.
                #expect(await first.overviewNow().first?.transfers.count == 1)
                harness.pass(10)
                await _ = program.events.contents { $0.contains { $0.name == "willBegin" } }
                let url = try #require(URL(string: server.url))
                try await program.perform(.answerBeginning(1, TransferRequest(URLRequest(url: url))))
                await harness.pauses.count(reaches: 1)
                first.stop()
                let second = try harness.start()
                defer { second.stop() }
                let again = TestProgram(second, try harness.description())
                #expect(try await again.end(of: 1).error == nil)
                #expect(!again.events.snapshot.contains { $0.name == "willBegin" })
            }
        }

        @Test("a suspended transfer waits, also in another process")
        func suspension() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                let first = try harness.start()
                let program = TestProgram(first, try harness.description())
                let date = harness.wall.value.addingTimeInterval(10)
                try await program.download(1, server.url) { $0.earliestBeginDate = date }
                try await program.perform(.suspend(1))
                program.channel.detach()
                #expect(await first.overviewNow().first?.isAttached == false)
                first.stop()
                harness.pass(20)
                let second = try harness.start()
                defer { second.stop() }
                let again = TestProgram(second, try harness.description())
                #expect(try await again.attached().transfers.map(\.stage) == [.suspended])
                #expect(server.server.requests.count == 0)
                try await again.perform(.resume(1))
                #expect(try await again.end(of: 1).error == nil)
            }
        }

        @Test("a challenge is answered by the program")
        func challenge() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try Self.protected())
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                try await program.download(1, server.url())
                let (transfer, number, challenge) = try await program.challenge(1)
                #expect(
                    transfer == 1 && challenge.realm == "r" && challenge.method == NSURLAuthenticationMethodHTTPBasic)
                try await program.perform(.answerChallenge(1, challenge: number, Self.answer))
                #expect(try await program.end(of: 1).response?.head?.statusCode == 200)
            }
        }

        @Test("a late answer to a challenge of an earlier attempt decides nothing", arguments: [false, true])
        func lateAnswer(restarts: Bool) async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try Self.protected())
                defer { server.stop() }
                let first = try harness.start()
                let program = TestProgram(first, try harness.description())
                try await program.download(1, server.url())
                let (_, number, _) = try await program.challenge(1)
                program.channel.detach()
                #expect(await first.overviewNow().first?.transfers.first?.stage == .waitingForProgram)
                if restarts { first.stop() }
                let second = restarts ? try harness.start() : first
                defer { second.stop() }
                let again = TestProgram(second, try harness.description())
                let (_, next, _) = try await again.challenge(1)
                let late = ChallengeReply(.cancelAuthenticationChallenge)
                try await again.perform(.answerChallenge(1, challenge: number, late))
                try await again.perform(.answerChallenge(1, challenge: next, Self.answer))
                #expect(try await again.end(of: 1).response?.head?.statusCode == 200)
            }
        }

        @Test("a challenge waits for the program, which is started for it")
        func waitingChallenge() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try Self.protected())
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let description = try harness.description {
                    ($0.sessionSendsLaunchEvents, $0.backgroundLaunchCommand) = (true, ["/bin/program", "x"])
                }
                let program = TestProgram(service, description)
                try await program.download(1, server.url())
                _ = try await program.challenge(1)
                program.channel.detach()
                #expect(await harness.launches.count(reaches: 1) == [["/bin/program", "x", "s"]])
                #expect(await service.overviewNow().first?.transfers.first?.stage == .waitingForProgram)
                let again = TestProgram(service, description)
                let (_, number, _) = try await again.challenge(1)
                try await again.perform(.answerChallenge(1, challenge: number, Self.answer))
                #expect(try await again.end(of: 1).response?.head?.statusCode == 200)
            }
        }

        @Test("a challenge waits a day")
        func longChallenge() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try Self.protected())
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                try await program.download(1, server.url())
                _ = try await program.challenge(1)
                program.channel.detach()
                harness.pass(86_400)
                let again = TestProgram(service, try harness.description())
                #expect(try await again.end(of: 1).error?.code == URLError.userAuthenticationRequired.rawValue)
            }
        }

        @Test("a challenge waits a day, over several processes", arguments: [true, false])
        func longChallengeOverProcesses(clockIsSetAtFirst: Bool) async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try Self.protected())
                defer { server.stop() }
                let today = harness.wall.value
                if !clockIsSetAtFirst { harness.wall.value = Date(timeIntervalSince1970: 60) }
                let first = try harness.start()
                let program = TestProgram(first, try harness.description())
                try await program.download(1, server.url())
                _ = try await program.challenge(1)
                program.channel.detach()
                #expect(await first.overviewNow().first?.transfers.first?.stage == .waitingForProgram)
                first.stop()
                harness.wall.value = today
                try harness.start().stop()  // finds the clock set
                harness.pass(80_000)
                let second = try harness.start()
                defer { second.stop() }
                #expect(await second.overviewNow().first?.transfers.first?.stage == .waitingForProgram)
                harness.pass(6_400)
                let again = TestProgram(second, try harness.description())
                #expect(try await again.end(of: 1).error?.code == URLError.userAuthenticationRequired.rawValue)
            }
        }

        /// A program that compares a pin, and leaves the rest to the default rules, decides as one that trusts.
        @Test(
            "the program's trust in a server is asked for, and waited for, once it has decided itself",
            arguments: [
                ChallengeReply(.useCredential, trustsServer: true),
                ChallengeReply(.performDefaultHandling, isFromDelegate: true),
            ])
        func trust(first: ChallengeReply) async throws {
            try await withTimeout {
                let (harness, authority) = (try ServiceHarness(), try CertificateAuthority())
                let server = try LoopbackServer(tls: try authority.issue()) { _ in .text("hello") }
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let isTrusted = first.trustsServer
                let description = try harness.description {
                    if !isTrusted { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
                }
                let program = TestProgram(service, description)
                try await program.download(1, server.url())
                let (_, number, challenge) = try await program.challenge(1)
                #expect(
                    challenge.method == NSURLAuthenticationMethodServerTrust && challenge.certificates?.isEmpty == false
                )
                try await program.perform(.answerChallenge(1, challenge: number, first))
                #expect(try await program.end(of: 1).error == nil)
                try await program.takeAll(1)
                let date = harness.wall.value.addingTimeInterval(10)
                // On another connection.
                try await program.perform(.reset)
                try await program.download(2, server.url()) { $0.earliestBeginDate = date }
                program.channel.detach()
                harness.pass(10)
                await server.openings.count(reaches: 2)
                let again = TestProgram(service, description)
                let (transfer, next, _) = try await again.challenge(1)
                try await again.perform(.answerChallenge(transfer, challenge: next, first))
                #expect(try await again.end(of: 2).error == nil)
            }
        }

        @Test("the program is started when all is done, and not too often")
        func launches() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let description = try harness.description {
                    ($0.sessionSendsLaunchEvents, $0.backgroundLaunchCommand) = (true, ["/p"])
                }
                for round in 1...2 {
                    let program = TestProgram(service, description)
                    _ = try await program.attached()
                    let date = harness.wall.value.addingTimeInterval(1)
                    try await program.download(round, server.url) { $0.earliestBeginDate = date }
                    program.channel.detach()
                    harness.pass(1)
                    await server.server.requests.count(reaches: round)
                    if round == 2 {
                        // The first one took nothing: a minute must pass.
                        await _ = Self.ended(2, service)
                        #expect(harness.launches.count == 1)
                        harness.pass(60)
                    }
                    #expect(await harness.launches.count(reaches: round).count == round)
                }
            }
        }

        private static func ended(_ count: Int, _ service: TransferService) async -> Bool {
            while await service.overviewNow().first?.transfers.count(where: { $0.stage == .ended }) != count {
                await Task.yield()
            }
            return true
        }

        @Test("what is at the system's discretion waits until it suits")
        func discretion() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                harness.conditionsAreGood.value = false
                harness.randomness.value = 0.5
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description { $0.isDiscretionary = true })
                try await program.download(1, server.url)
                harness.pass(29)
                #expect(await service.overviewNow().first?.transfers.first?.stage == .queued)
                #expect(harness.conditionLooks.count == 0)
                harness.pass(1)
                await harness.conditionLooks.count(reaches: 1)
                harness.conditionsAreGood.value = true
                harness.pass(300)
                #expect(try await program.end(of: 1).error == nil)
                #expect(harness.conditionLooks.snapshot == [false, true])
            }
        }

        @Test("all are cancelled, and the session is forgotten when that was taken")
        func cancelledAndEnded() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let peer = try ScriptedPeer([.expectRequest, .waitUntilPeerCloses])
                defer { peer.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                for identifier in 1...3 { try await program.download(identifier, peer.url()) }
                await peer.connectionCount(reaches: 3)
                for identifier in 1...3 {
                    try await program.perform(.cancel(identifier, producingResumeData: false))
                }
                for identifier in 1...3 {
                    #expect(try await program.end(of: identifier).error?.code == URLError.cancelled.rawValue)
                    try await program.takeAll(identifier)
                }
                try await program.perform(.endSession)
                await peer.endedCount(reaches: 3)
                #expect(try await TestProgram(service, try harness.description()).attached().nextIdentifier == 1)
                #expect(harness.files.isEmpty)
            }
        }

        @Test("numbers that a file has at their highest end nothing")
        func highestNumbers() async throws {
            try await withTimeout {
                let (harness, server) = (try ServiceHarness(), try RangeServer(count: 10))
                defer { server.stop() }
                var session = JournaledSession(number: .max, description: try harness.description("high"))
                session.nextIdentifier = .max
                let request = URLRequest(url: try #require(URL(string: server.url)))
                var record = TransferRecord(
                    identifier: .max, kind: .download, request: try #require(TransferRequest(request)))
                func row() -> TransferRow {
                    TransferRow(
                        TransferKey(session: .max, identifier: record.identifier), priority: 0.5,
                        earliestBeginDate: nil, asOf: harness.wall.value)
                }
                try harness.journal.commit([.session(session), .begin(row(), record)])
                record.identifier = 1
                var over = row()
                over.endNumber = .max
                try harness.journal.commit([.begin(over, record)])
                let service = try harness.start()
                defer { service.stop() }
                let high = TestProgram(service, try harness.description("high"))
                #expect(try await high.end(of: .max).error == nil)
                #expect(try await high.attached().nextIdentifier == .max)
                let other = TestProgram(service, try harness.description("other"))
                try await other.download(1, server.url)
                #expect(try await other.end(of: 1).error == nil)
            }
        }

        @Test("a command for a transfer that the service does not have is answered with its end")
        func lostTransfer() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                try await program.perform(.resume(7))
                let code = URLError.backgroundSessionWasDisconnected.rawValue
                #expect(try await program.end(of: 7).error?.code == code)
            }
        }

        @Test("it is idle when nobody is there and nothing is to do")
        func idleness() async throws {
            try await withTimeout {
                let (harness, server, changes) = (try ServiceHarness(), try RangeServer(count: 10), Recorder<Bool>())
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                service.observeIdleness { changes.append($0) }
                let program = TestProgram(service, try harness.description())
                let date = harness.wall.value.addingTimeInterval(10)
                try await program.download(1, server.url) { $0.earliestBeginDate = date }
                program.channel.detach()
                #expect(await service.overviewNow().first?.isAttached == false)
                #expect(changes.snapshot == [true, false])
                harness.pass(10)
                #expect(await changes.count(reaches: 3) == [true, false, true])
            }
        }

        private static let answer = ChallengeReply(
            .useCredential, user: "u", password: "p", persistence: URLCredential.Persistence.none)

        private static func protected() throws -> LoopbackServer {
            try LoopbackServer { request in
                request.fields[name: "authorization"] == "Basic dTpw"
                    ? .text("hello") : ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
            }
        }
    }
#endif
