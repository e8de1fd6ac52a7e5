import Foundation
import LoadingKit
import LoadingKitTransport
import TestSupport
import Testing

/// Which loads share control connections, and how many there are.
@Suite(.usesPeers) struct SessionSharingTests {
    private func connectionCount(_ server: FaultyFTPServer) -> Int {
        server.steps.filter { $0 == "greeting" }.count
    }

    private func url(_ server: FaultyFTPServer, _ user: String) -> String {
        server.url().replacing("ftp://", with: "ftp://\(user):secret@")
    }

    @Test func twoSessionsShareNothing() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let sessions = [makeFTPSession(), makeFTPSession()]
        defer { for session in sessions { session.invalidateAndCancel() } }
        for _ in 0..<2 {
            for session in sessions {
                #expect(await session.outcome(url(server, "ada")) == .loaded(FaultyFTPServer.file))
            }
        }
        #expect(connectionCount(server) == 2)
    }

    @Test func twoUsersOfASessionShareNothing() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 {
            for user in ["ada", "bob"] {
                #expect(await session.outcome(url(server, user)) == .loaded(FaultyFTPServer.file))
            }
        }
        #expect(connectionCount(server) == 2)
    }

    @Test func aUserAndNobodyShareNothing() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 {
            for url in [url(server, "ada"), server.url()] {
                #expect(await session.outcome(url) == .loaded(FaultyFTPServer.file))
            }
        }
        #expect(connectionCount(server) == 2)
    }

    /// The monotonic clock, by which a connection is idle, stands while the machine sleeps.
    @Test func connectionsThatWereIdleDuringSleepAreUsedNoMore() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "sleep", time: .manual(time))
        defer { loop.stop() }
        let session = makeFTPSession(on: loop)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            for (asleep, connections) in [(0, 1), (0, 1), (86_400, 2), (0, 2)] as [(UInt64, Int)] {
                time.sleep(seconds: asleep)
                time.advance(by: .seconds(2))
                #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
                #expect(connectionCount(server) == connections)
            }
        }
    }

    @Test func resetConnectionsAreUsedNoMore() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        let mayEnd = Signal()
        defer { mayEnd.fire() }
        try await withTimeout {
            let upload = URLRequest(url: try #require(URL(string: server.url())))
            let task = Task {
                var upload = upload
                upload.httpMethod = "PUT"
                upload.httpBodyStream = FunctionStream { _, _ in
                    mayEnd.waitBlocking()
                    return 0
                }
                return await session.outcome(upload)
            }
            await server.step("STOR")
            await session.reset()
            #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
            #expect(connectionCount(server) == 2)
            mayEnd.fire()
            _ = await task.value
            for _ in 0..<2 { #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file)) }
            #expect(connectionCount(server) == 2)
            #expect(await session.statistics.connections.closed == ["unusable": 1])
        }
    }

    @Test func loadsWaitByPriorityAndAge() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession { $0.httpMaximumConnectionsPerHost = 1 }
        defer { session.invalidateAndCancel() }
        let mayEnd = Signal()
        defer { mayEnd.fire() }
        var upload = URLRequest(url: try #require(URL(string: server.url())))
        upload.httpMethod = "PUT"
        upload.httpBodyStream = FunctionStream { _, _ in
            mayEnd.waitBlocking()
            return 0
        }
        let (done, names) = (Recorder<Int>(), ["a", "b", "c", "d"])
        let tasks = try names.map { name in
            let url = try #require(URL(string: server.url("/" + name)))
            return session.dataTask(with: url) { _, _, _ in done.append(1) }
        }
        try await withTimeout { [upload] in
            session.dataTask(with: upload) { _, _, _ in done.append(1) }.resume()
            await server.step("STOR")
            tasks[3].priority = 0.9
            for task in tasks { task.resume() }
            try await waitUntil { await session.statistics.requests.waiting == names.count }
            (tasks[2].priority, tasks[0].priority) = (1, 0.1)
            // The changes are on the loop before this.
            _ = await session.allTasks
            mayEnd.fire()
            _ = await done.count(reaches: names.count + 1)
            let served = server.commands.filter { $0.hasPrefix("RETR") }.compactMap(\.last)
            #expect(served.map { String($0) } == ["c", "d", "b", "a"])
        }
    }

    /// The reply that nobody asked for comes in one read with the last one, when the next load has its turn.
    @Test func aReplyTooManyIsNoAnswerToTheNextLoad() async throws {
        let server = try FaultyFTPServer([.init(step: "end", act: .reply("226 done\r\n226 more\r\n"))])
        defer { server.stop() }
        let session = makeFTPSession { $0.httpMaximumConnectionsPerHost = 1 }
        defer { session.invalidateAndCancel() }
        await withTaskGroup(of: FTPOutcome.self) { group in
            for name in ["a", "b", "c"] {
                let url = server.url("/" + name)
                group.addTask { await session.outcome(url) }
            }
            for await outcome in group { #expect(outcome == .loaded(FaultyFTPServer.file)) }
        }
        #expect(connectionCount(server) == 2)
    }

    /// The connection has served before, and ends in place of the reply. The server may have made the folder, unless it
    /// says that it is not available.
    @Test(arguments: ["", "2", "421 idle\r\n"]) func aFolderIsMadeOnce(_ last: String) async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
        server.add([.init(step: "MKD", act: .close(last))])
        var request = URLRequest(url: try #require(URL(string: server.url("/new"))))
        request.httpMethod = "MKCOL"
        let outcome = await session.outcome(request)
        let isMadeAgain = last.hasPrefix("421")
        let expected: FTPOutcome = isMadeAgain ? .loaded([]) : .failed(.networkConnectionLost)
        #expect(outcome == expected)
        #expect(server.commands.filter { $0.hasPrefix("MKD") }.count == (isMadeAgain ? 2 : 1))
        #expect(connectionCount(server) == (isMadeAgain ? 2 : 1))
    }

    @Test func twoSessionsOfTwoUsersAtATime() async throws {
        let run = try await ScenarioRun.start(.pyftpdlib, .none)
        defer { run.server.stop() }
        let (other, password) = run.server.otherUser
        let users = [("\(run.server.user):\(run.server.password)", "alice"), ("\(other):\(password)", "bob")]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (credential, name) in users {
                group.addTask {
                    let session = run.makeSession()
                    defer { session.invalidateAndCancel() }
                    for _ in 0..<20 {
                        let (data, _) = try await session.data(for: run.request("/who.txt", credential: credential))
                        #expect(String(decoding: data, as: UTF8.self) == name)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [1, 3]) func noMoreConnectionsThanAllowed(_ limit: Int) async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession { $0.httpMaximumConnectionsPerHost = limit }
        defer { session.invalidateAndCancel() }
        await withTaskGroup(of: FTPOutcome.self) { group in
            for number in 0..<20 {
                // An idle connection of the other user has to go for one of this user.
                let url = url(server, number < 10 ? "ada" : "bob")
                group.addTask { await session.outcome(url) }
            }
            for await outcome in group { #expect(outcome == .loaded(FaultyFTPServer.file)) }
        }
        let atOnce = server.steps.reduce(into: (now: 0, most: 0)) { count, step in
            if step == "RETR" { count.now += 1 }
            if step == "end" { count.now -= 1 }
            count.most = max(count.most, count.now)
        }
        #expect(atOnce.now == 0 && (1...limit).contains(atOnce.most))
    }

    /// A load that waits for its turn is cancelled, and then the one that it waits for.
    @Test func aLoadThatIsCancelledWhileItWaits() async throws {
        let server = try FaultyFTPServer([.init(step: "RETR", act: .silence)])
        defer { server.stop() }
        let session = makeFTPSession { $0.httpMaximumConnectionsPerHost = 1 }
        defer { session.invalidateAndCancel() }
        let url = server.url()
        let first = Task { await session.outcome(url) }
        await server.step("RETR")
        let second = Task { await session.outcome(url) }
        second.cancel()
        #expect(await second.value == .failed(.cancelled))
        first.cancel()
        #expect(await first.value == .failed(.cancelled))
        #expect(await session.outcome(url) == .loaded(FaultyFTPServer.file))
    }
}
