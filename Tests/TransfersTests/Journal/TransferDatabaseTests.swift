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

        private func row(_ identifier: Int, session: Int64 = 1) -> TransferRow {
            TransferRow(
                TransferKey(session: session, identifier: identifier), priority: 0.75, earliestBeginDate: asOf,
                asOf: asOf)
        }

        private func begin(_ identifier: Int, session: Int64 = 1) throws -> JournalChange {
            var request = URLRequest(url: try #require(URL(string: "http://secret.example/\(identifier)")))
            request.setValue("secret-word", forHTTPHeaderField: "Authorization")
            let record = TransferRecord(
                identifier: identifier, kind: .download, request: try #require(TransferRequest(request)))
            return .begin(row(identifier, session: session), record)
        }

        private func end(_ identifier: Int, number: Int64, _ status: TransferStatus) -> [JournalChange] {
            var row = row(identifier)
            row.endNumber = number
            return [.row(row), .status(row.key, status)]
        }

        @Test("what was committed is there again")
        func roundTrip() throws {
            let first = try journal()
            let key = TransferKey(session: 1, identifier: 2)
            #expect(try first.load().sessions.isEmpty && first.transfer(key) == nil)
            var changed = row(3)
            (changed.isSuspended, changed.waitsForProgram, changed.elapsed) = (true, true, 5)
            var status = TransferStatus()
            status.part = PartRecord(resumeData: Data("r".utf8), bootIdentifier: "b")
            status.progress.received = 7
            let error = TransferError(.timedOut, "late")
            try first.commit(
                [
                    .session(try session(1)), try begin(2), try begin(3), try begin(4), .row(changed),
                    .status(changed.key, status), .forget(TransferKey(session: 1, identifier: 4)),
                ] + end(2, number: 9, TransferStatus(error: error, file: "/f")))
            let second = try journal()
            let contents = try second.load()
            #expect(contents.sessions.map(\.description) == [try session(1).description])
            #expect(contents.transfers.map(\.key.identifier) == [2, 3])
            #expect(contents.transfers.map(\.endNumber) == [9, nil])
            #expect(contents.transfers.last == changed && contents.transfers.first?.earliestBeginDate == asOf)
            let all = try second.transfers(of: 1)
            #expect(all.map(\.identifier) == [2, 3] && all.map(\.stage) == [.failed, .suspended])
            #expect(all.last?.status.part == status.part)
            #expect(all.first?.request.url == "http://secret.example/2")
            #expect(all.first?.status.error == error && all.first?.status.next == .content)
            var taken = row(2)
            (taken.endNumber, taken.next) = (9, .metrics)
            try second.commit([.row(taken)])
            #expect(try second.transfer(key)?.status.next == .metrics)
            try second.commit([.forgetSession(1)])
            #expect(try second.load().transfers.isEmpty && second.transfers(of: 1).isEmpty)
        }

        @Test(
            "a request's timeout is there again, also where it is no finite number",
            arguments: [5, .infinity, -.infinity, .nan] as [TimeInterval])
        func timeouts(timeout: TimeInterval) throws {
            var request = URLRequest(url: try #require(URL(string: "http://h.example/")))
            request.timeoutInterval = timeout
            let record = TransferRecord(
                identifier: 1, kind: .download, request: try #require(TransferRequest(request)))
            let first = try journal()
            try first.commit([.session(try session(1)), try begin(1), .record(row(1).key, record), try begin(2)])
            let kept = try #require(try journal().transfer(row(1).key)?.request.rules.timeout)
            #expect("\(kept)" == "\(timeout)")
            #expect(try journal().transfers(of: 1).map(\.identifier) == [1, 2])
        }

        /// SQLite has no number for it, and the column needs one.
        @Test("a change whose values cannot be stored is named, and nothing is stored")
        func refusal() throws {
            let journal = try journal()
            var odd = row(2)
            odd.priority = .nan
            let changes: [JournalChange] = [
                .session(try session(1)), try begin(1), try begin(2), .row(odd), .row(row(1)),
            ]
            let error = #expect(throws: RefusedChange.self) { try journal.commit(changes) }
            #expect(error?.index == 3 && error?.error is LoadFailure)
            #expect(try journal.load().sessions.isEmpty)
        }

        @Test("of a journal of the first form the rows are there, and no contents")
        func firstForm() throws {
            let old = try journal()
            try old.commit([.session(try session(1)), try begin(1)])
            try old.database.write { connection in
                try connection.execute(
                    """
                    DROP TABLE content;
                    CREATE TABLE content (
                        session INTEGER NOT NULL, identifier INTEGER NOT NULL, description BLOB NOT NULL,
                        standing BLOB NOT NULL, ending BLOB, PRIMARY KEY (session, identifier)
                    );
                    INSERT INTO content VALUES (1, 1, x'00', x'00', NULL);
                    ALTER TABLE transfer DROP COLUMN next;
                    PRAGMA user_version = 1;
                    """)
            }
            let journal = try journal()
            #expect(try journal.load().transfers == [row(1)])
            #expect(try journal.transfers(of: 1).isEmpty)
        }

        @Test("nothing of a request can be read in the files, which are their user's alone")
        func secrecy() throws {
            try journal().commit([.session(try session(1, "secret-session")), try begin(1)])
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
            try journal().commit([.session(try session(1)), try begin(1)])
            let file = folder.file("state").appendingPathComponent("Transfers.sqlite")
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
            try Data(repeating: 0x41, count: 5000).write(to: file)
            let second = try journal()
            #expect(try second.load().transfers.isEmpty)
            try second.commit([.session(try session(1)), try begin(1)])
            #expect(try second.load().transfers.count == 1)
            #expect(FileManager.default.fileExists(atPath: file.path + ".damaged"))
        }

        @Test("without its key a session cannot be read, and is left out")
        func lostKey() throws {
            try journal().commit([.session(try session(1)), try begin(1)])
            try FileManager.default.removeItem(at: folder.file("state").appendingPathComponent("Transfers.key"))
            let contents = try journal().load()
            #expect(contents.sessions.isEmpty && contents.transfers.isEmpty)
        }

        @Test("a session is not left out where a file cannot be opened for a moment", arguments: 1...4)
        func lackOfDescriptors(opening: Int) throws {
            try journal().commit([.session(try session(1)), try begin(1)])
            let contents = FaultPlan(.open, .nth(opening), .fail(EMFILE)).run { try? journal().load() }
            #expect(contents == nil || contents?.sessions.count == 1)
            #expect(try journal().load().sessions.count == 1)
        }

        @Test("without its key a session's number is not given to another one")
        func numberOfLostSession() throws {
            try journal().commit([.session(try session(7)), try begin(1)])
            try FileManager.default.removeItem(at: folder.file("state").appendingPathComponent("Transfers.key"))
            let contents = try journal().load()
            #expect(contents.sessions.isEmpty)
            #expect(contents.highestSession == 7)
        }

        @Test("the number of a transfer's session is not given to another one where the journal lacks the session")
        func numberOfMissingSession() throws {
            try journal().commit([.session(try session(2)), try begin(1, session: 7)])
            let contents = try journal().load()
            #expect(contents.sessions.map(\.number) == [2] && contents.transfers.isEmpty)
            #expect(contents.highestSession == 7)
        }

        @Test("a key whose file was removed is written again, with what it encrypts")
        func removedKey() throws {
            let first = try journal()
            try first.commit([.session(try session(1)), try begin(1)])
            try FileManager.default.removeItem(at: folder.file("state").appendingPathComponent("Transfers.key"))
            try first.commit([try begin(2)])
            let second = try journal()
            #expect(try second.load().sessions.count == 1)
            #expect(try second.transfers(of: 1).map(\.identifier) == [1, 2])
        }

        @Test("an end that is damaged is an end with an error, and the others are as they were")
        func damagedEnd() throws {
            let journal = try journal()
            try journal.commit([.session(try session(1)), try begin(1), try begin(2)])
            let status = TransferStatus(file: "/f")
            try journal.commit(end(1, number: 1, status) + end(2, number: 2, status))
            try journal.database.write { connection in
                try connection.run("UPDATE content SET standing = x'00112233' WHERE identifier = 1")
            }
            let found = try journal.transfers(of: 1).map(\.status)
            #expect(found.first?.file == nil && found.first?.error?.code == URLError.cannotOpenFile.rawValue)
            #expect(found.last?.file == "/f" && found.last?.error == nil)
        }

        @Test("a contents that was put into another row is not taken for its own")
        func swapped() throws {
            let journal = try journal()
            try journal.commit([.session(try session(1)), try begin(1), try begin(2)])
            try journal.database.write { connection in
                try connection.run(
                    "UPDATE content SET record = (SELECT record FROM content WHERE identifier = 2)")
            }
            #expect(try journal.transfers(of: 1).map(\.identifier) == [2])
        }
    }

    extension TransferJournal {
        fileprivate func transfers(of session: Int64) throws -> [TransferRecord] { try transfers(of: session) { $0 } }
    }
#endif
