#if Persistence
    import Foundation
    import LoadingKit
    import LoadingKitTransport
    import TestSupport
    import Testing

    @testable import LoadingKitCore
    @testable import LoadingKitPersistence

    @Suite("TransferDatabase")
    struct TransferDatabaseTests {
        private let folder: TemporaryFolder
        private let asOf = Date(timeIntervalSince1970: 1_800_000_000)

        init() throws { folder = try TemporaryFolder() }

        private func journal() throws -> TransferDatabase { try TransferDatabase(folder: folder.file("state")) }

        private func session(_ number: Int64, _ identifier: String = "s") throws -> JournaledSession {
            let description = try SessionDescription(
                URLSessionConfiguration.ephemeral.settings, identifier: identifier, program: "/p", storeFolder: nil)
            return JournaledSession(number: number, description: description)
        }

        private func transfer(_ identifier: Int, session: Int64 = 1) throws -> JournaledTransfer {
            var request = URLRequest(url: try #require(URL(string: "http://secret.example/\(identifier)")))
            request.setValue("secret-word", forHTTPHeaderField: "Authorization")
            let description = TransferDescription(
                identifier: identifier, kind: .download, request: try #require(TransferRequest(request)),
                priority: 0.75,
                earliestBeginDate: asOf)
            return JournaledTransfer(
                summary: TransferSummary(description, session: session, asOf: asOf), description: description,
                standing: TransferStanding())
        }

        @Test("what was committed is there again")
        func roundTrip() throws {
            let first = try journal()
            let key = TransferKey(session: 1, identifier: 2)
            #expect(try first.load().sessions.isEmpty && first.transfer(key) == nil && first.end(of: key) == nil)
            var changed = try transfer(3).summary
            (changed.isSuspended, changed.waitsForProgram, changed.elapsed) = (true, true, 5)
            var standing = TransferStanding()
            standing.part = PartRecord(resumeData: Data("r".utf8), bootIdentifier: "b")
            standing.progress.received = 7
            let end = TransferEnd(
                error: TransferError(.timedOut, "late"), response: nil, progress: standing.progress, file: "/f",
                metrics: nil)
            try first.commit([
                .session(try session(1)), .begin(try transfer(2)), .begin(try transfer(3)), .begin(try transfer(4)),
                .summary(changed), .standing(changed.key, standing), .end(key, number: 9, end),
                .forget(TransferKey(session: 1, identifier: 4)),
            ])
            let second = try journal()
            let contents = try second.load()
            #expect(contents.sessions.map(\.description) == [try session(1).description])
            #expect(contents.transfers.map(\.key.identifier) == [2, 3])
            #expect(contents.transfers.map(\.endNumber) == [9, nil])
            #expect(contents.transfers.last == changed && contents.transfers.first?.earliestBeginDate == asOf)
            let all = try second.transfers(of: 1)
            #expect(all.map(\.description.identifier) == [2, 3] && all.last?.standing.part == standing.part)
            #expect(all.first?.description.request.url == "http://secret.example/2")
            #expect(try second.end(of: key)?.error == end.error && second.end(of: changed.key) == nil)
            try second.commit([.forgetSession(1)])
            #expect(try second.load().transfers.isEmpty && second.transfers(of: 1).isEmpty)
        }

        @Test("nothing of a request can be read in the files, which are their user's alone")
        func secrecy() throws {
            try journal().commit([.session(try session(1, "secret-session")), .begin(try transfer(1))])
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.file("state").path) {
                let file = folder.file("state").appendingPathComponent(name)
                let bytes = try Data(contentsOf: file)
                for secret in ["secret", "Authorization"] { #expect(bytes.range(of: Data(secret.utf8)) == nil) }
                var status = stat()
                #expect(SystemCalls.lstat(file.path, &status) == 0 && status.st_mode & 0o077 == 0)
            }
        }

        @Test("a change that fails undoes those with it")
        func transactions() throws {
            let journal = try journal()
            try journal.commit([.session(try session(1))])
            #expect(throws: (any Error).self) {
                try FaultPlan(.open, .from(1), .fail(EROFS)).run {
                    try TransferDatabase(folder: folder.file("other")).commit([.session(try session(1))])
                }
            }
            #expect(try journal.load().sessions.count == 1)
        }

        @Test("a damaged file is put aside, and the next one serves")
        func damage() throws {
            try journal().commit([.session(try session(1)), .begin(try transfer(1))])
            let file = folder.file("state").appendingPathComponent("Transfers.sqlite")
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
            try Data(repeating: 0x41, count: 5000).write(to: file)
            let second = try journal()
            #expect(try second.load().transfers.isEmpty)
            try second.commit([.session(try session(1)), .begin(try transfer(1))])
            #expect(try second.load().transfers.count == 1)
            #expect(FileManager.default.fileExists(atPath: file.path + ".damaged"))
        }

        @Test("without its key a session cannot be read, and is left out")
        func lostKey() throws {
            try journal().commit([.session(try session(1)), .begin(try transfer(1))])
            try FileManager.default.removeItem(at: folder.file("state").appendingPathComponent("Transfers.key"))
            let contents = try journal().load()
            #expect(contents.sessions.isEmpty && contents.transfers.isEmpty)
        }

        @Test("without its key a session's number is not given to another one")
        func numberOfLostSession() throws {
            try journal().commit([.session(try session(7)), .begin(try transfer(1))])
            try FileManager.default.removeItem(at: folder.file("state").appendingPathComponent("Transfers.key"))
            let contents = try journal().load()
            #expect(contents.sessions.isEmpty)
            #expect(contents.highestSession == 7)
        }

        @Test("an end that is damaged is an end with an error, and the others are as they were")
        func damagedEnd() throws {
            let journal = try journal()
            try journal.commit([.session(try session(1)), .begin(try transfer(1)), .begin(try transfer(2))])
            let end = TransferEnd(error: nil, response: nil, progress: TransferProgress(), file: "/f", metrics: nil)
            try journal.commit([.end(try transfer(1).summary.key, number: 1, end)])
            try journal.commit([.end(try transfer(2).summary.key, number: 2, end)])
            try journal.database.write { connection in
                try connection.run("UPDATE content SET ending = x'00112233' WHERE identifier = 1")
            }
            let damaged = try #require(try journal.end(of: try transfer(1).summary.key))
            #expect(damaged.file == nil && damaged.error?.code == URLError.cannotOpenFile.rawValue)
            #expect(try journal.end(of: try transfer(2).summary.key)?.file == "/f")
        }

        @Test("a contents that was put into another row is not taken for its own")
        func swapped() throws {
            let journal = try journal()
            try journal.commit([.session(try session(1)), .begin(try transfer(1)), .begin(try transfer(2))])
            try journal.database.write { connection in
                try connection.run(
                    "UPDATE content SET description = (SELECT description FROM content WHERE identifier = 2)")
            }
            #expect(try journal.transfers(of: 1).map(\.description.identifier) == [2])
        }
    }
#endif
