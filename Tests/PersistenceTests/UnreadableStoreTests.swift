#if Persistence
    import Foundation
    import LoadingKit
    import TestSupport
    import Testing

    @testable import LoadingKitCore
    @testable import LoadingKitPersistence

    /// Disks that fail to deliver bytes, for a moment or for longer: what a store has is there when they do again.
    @Suite("A store that cannot be read")
    struct UnreadableStoreTests {
        private static let schema = StoreSchema(steps: ["CREATE TABLE number (value INTEGER, filler BLOB)"])
        private let folder: TemporaryFolder
        private var file: URL { folder.file("Numbers.sqlite") }
        /// Other tests' databases do not hold those of this one, so that they are closed with their last reference.
        private let open = OpenDatabases(32)
        private var store: StoreDatabase { StoreDatabase(url: file, schema: Self.schema, among: open) }

        init() throws { folder = try TemporaryFolder() }

        private static func sum(_ connection: SQLiteConnection) throws -> Int {
            try connection.first(Int.self, "SELECT sum(value) FROM number WHERE filler = zeroblob(5000)") ?? 0
        }

        private static func add(_ connection: SQLiteConnection) throws {
            try connection.run("INSERT INTO number VALUES (1, zeroblob(5000))")
        }

        /// Where the first pages fail, SQLite says so; where only pages with the tables' values do, it reports damage.
        private static let failures = [0, 16_500].flatMap { start in
            [1, 2, 3, 4, 8, .max].map { (start: off_t(start), count: $0) }
        }

        /// The database is read, or the log beside it, which is there as long as another connection is open.
        @Test("stays where it is, however many reads fail", arguments: ["", "-wal"], failures)
        func failingReads(suffix: String, failures: (start: off_t, count: Int)) throws {
            let count = failures.count
            var other: StoreDatabase? = store
            try other?.write { connection in for _ in 0..<10 { try Self.add(connection) } }
            if suffix.isEmpty { other = nil }
            let reads = FailingReads(of: URL(fileURLWithPath: file.path + suffix), from: failures.start, count: count)
            let unread = store
            var (sums, errors) = ([] as [Int?], [] as [any Error])
            for _ in 0..<5 {
                do { sums.append(try unread.read(Self.sum)) } catch { errors.append(error) }
            }
            #expect(reads.stop() < count)
            #expect(sums.allSatisfy { $0 == 10 } && (count == .max ? sums.isEmpty : !sums.isEmpty))
            for error in errors {
                guard case StoreFailure.unreadable = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
            #expect(count > 1 || errors.isEmpty, "one failure costs nothing")
            try unread.write(Self.add)
            #expect(try unread.read(Self.sum) == 11)
            withExtendedLifetime(other) {}
            #expect(try !folder.contents().contains { $0.hasSuffix(".damaged") })
        }

        @Test("has its transfers when the disk delivers again", arguments: [1, 2, 3, 5, .max])
        func journal(count: Int) throws {
            let journal = try TransferDatabase(folder: folder.file("state"))
            let description = try SessionDescription(
                URLSessionConfiguration.ephemeral.settings, identifier: "s", program: "/p", storeFolder: nil)
            try journal.commit([.session(JournaledSession(number: 1, description: description))])
            let file = journal.database.url
            let reads = FailingReads(of: URL(fileURLWithPath: file.path + "-wal"), count: count)
            do {
                #expect(try TransferDatabase(folder: folder.file("state")).load().sessions.count == 1 && count < .max)
            } catch let failure as LoadFailure {
                #expect(failure.code == .cannotOpenFile)
                #expect(failure.description.contains("a read has failed"), "\(failure)")
            }
            #expect(reads.stop() < count)
            #expect(try journal.load().sessions.count == 1)
            #expect(!FileManager.default.fileExists(atPath: file.path + ".damaged"))
        }

        @Test("is put aside where its bytes are wrong, and no read fails")
        func wrongBytes() throws {
            do {
                let writer = store
                for _ in 0..<10 { try writer.write(Self.add) }
            }
            var bytes = try Data(contentsOf: file)
            bytes.replaceSubrange(4096..., with: Data(repeating: 0xA5, count: bytes.count - 4096))
            try bytes.write(to: file)
            let damaged = store
            #expect(throws: SQLiteError.self) { try damaged.read(Self.sum) }
            #expect(try folder.contents().contains("Numbers.sqlite.damaged"))
            try damaged.write(Self.add)
            #expect(try damaged.read(Self.sum) == 1)
        }
    }
#endif
