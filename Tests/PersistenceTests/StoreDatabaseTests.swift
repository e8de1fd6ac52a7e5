#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitTransport
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    @Suite("StoreDatabase")
    struct StoreDatabaseTests {
        private static let schema = StoreSchema(steps: ["CREATE TABLE t (a)"])

        @Test(
            "a transaction is as durable as is asked for, and in a log of its own",
            arguments: [(StoreDatabase.Durability.full, 2), (.process, 1)])
        func durability(durability: StoreDatabase.Durability, level: Int) throws {
            let folder = try TemporaryFolder()
            let store = StoreDatabase(url: folder.file("a.sqlite"), schema: Self.schema, durability: durability)
            try store.write { connection in
                // FULL is 2, and NORMAL 1.
                let found = try connection.first(Int.self, "PRAGMA synchronous")
                let journal = try connection.first(String.self, "PRAGMA journal_mode")
                let timeout = try connection.first(Int.self, "PRAGMA busy_timeout")
                #expect(found == level && journal == "wal" && timeout == 5000)
            }
        }

        @Test(
            "on a file system of a network there is no log, also where the file had one",
            arguments: [
                (0x6969, "delete"), (0xFF53_4D42, "delete"), (0xFE53_4D42, "delete"), (0x00C3_6400, "delete"),
                (0x5346_414F, "delete"), (0x0102_1997, "delete"), (0xEF53, "wal"), (-Int(ENOENT), "wal"),
            ])
        func journal(type: Int, mode: String) throws {
            let folder = try TemporaryFolder()
            let file = folder.file("a.sqlite")
            do {
                let earlier = StoreDatabase(url: file, schema: Self.schema)
                try earlier.write { try $0.run("INSERT INTO t VALUES (1)") }
                // It is in use with its log.
                let other = StoreDatabase(url: file, schema: Self.schema) { _ in 0x6969 }
                try other.write { try $0.run("INSERT INTO t VALUES (2)") }
                let found = try other.read { try $0.first(String.self, "PRAGMA journal_mode") }
                #expect(found == "wal")
                withExtendedLifetime(earlier) {}
            }
            let store = StoreDatabase(url: file, schema: Self.schema) { _ in type }
            try store.write { try $0.run("INSERT INTO t VALUES (3)") }
            let found = try store.read { try $0.first(String.self, "PRAGMA journal_mode") }
            #expect(found == mode)
            #expect(try store.read { try $0.first(Int.self, "SELECT count(*) FROM t") } == 3)
        }

        @Test("the types of file systems are the system's")
        func fileSystems() {
            // PROC_SUPER_MAGIC
            #expect(SystemCalls.fileSystemType("/proc") == 0x9FA0)
            #expect(SystemCalls.fileSystemType("/nowhere/at/all") == -Int(ENOENT))
        }

        @Test("what several stores of a process write at once is all there")
        func sharing() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("a.sqlite")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let store = StoreDatabase(url: file, schema: Self.schema, durability: .process)
                        for index in 0..<25 { try store.write { try $0.run("INSERT INTO t VALUES (?)", [index]) } }
                    }
                }
                try await group.waitForAll()
            }
            let store = StoreDatabase(url: file, schema: Self.schema)
            #expect(try store.read { try $0.first(Int.self, "SELECT count(*) FROM t") } == 100)
        }

        @Test("of many databases few are open, and all have what was written")
        func manyDatabases() throws {
            let folder = try TemporaryFolder()
            let open = OpenDatabases(32)
            let stores = (0..<100).map { index in
                StoreDatabase(
                    url: folder.file("\(index).sqlite"), schema: Self.schema, durability: .process, among: open)
            }
            for (index, store) in stores.enumerated() {
                try store.write { try $0.run("INSERT INTO t VALUES (?)", [index]) }
            }
            let path = folder.url.resolvingSymlinksInPath().path + "/"
            let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }
            let count = files.filter { $0.hasPrefix(path) }.count
            #expect(count > 0 && count <= 32 * 5, "\(count)")
            for (index, store) in stores.enumerated() {
                let found = try store.read { try $0.rows("SELECT a FROM t") { $0.value(0, Int.self) } }
                #expect(found == [index])
            }
        }

        @Test("a change by another process counts also where the database was closed meanwhile")
        func versionAfterClosing() throws {
            let folder = try TemporaryFolder()
            let open = OpenDatabases(1)
            let file = folder.file("a.sqlite")
            let store = StoreDatabase(url: file, schema: Self.schema, among: open)
            #expect(try store.version() == nil)
            try store.write { try $0.run("INSERT INTO t VALUES (1)") }
            let version = try store.version()
            #expect(version != nil)
            #expect(try store.version() == version)
            let next = StoreDatabase(url: folder.file("b.sqlite"), schema: Self.schema, among: open)
            try next.write { try $0.run("INSERT INTO t VALUES (2)") }
            let other = StoreDatabase(url: file, schema: Self.schema)
            try other.write { try $0.run("INSERT INTO t VALUES (3)") }
            #expect(try store.version() != version)
            #expect(try store.read { try $0.first(Int.self, "SELECT count(*) FROM t") } == 2)
        }

        /// The database that is closed is in use, and closes the other one in turn.
        @Test("a transaction goes on where its database is closed")
        func closingInUse() throws {
            let folder = try TemporaryFolder()
            let open = OpenDatabases(1)
            let (one, two) = (
                StoreDatabase(url: folder.file("a.sqlite"), schema: Self.schema, among: open),
                StoreDatabase(url: folder.file("b.sqlite"), schema: Self.schema, among: open)
            )
            try one.write { connection in
                try connection.run("INSERT INTO t VALUES (1)")
                try two.write { try $0.run("INSERT INTO t VALUES (2)") }
                try connection.run("INSERT INTO t VALUES (3)")
            }
            #expect(try one.read { try $0.first(Int.self, "SELECT count(*) FROM t") } == 2)
            #expect(try two.read { try $0.first(Int.self, "SELECT count(*) FROM t") } == 1)
        }

        @Test("what is written just when another process puts the file aside is in the new one")
        func replacement() throws {
            let folder = try TemporaryFolder()
            let file = folder.file("a.sqlite")
            let store = StoreDatabase(url: file, schema: Self.schema)
            try store.write { try $0.run("INSERT INTO t VALUES (1)") }
            var isReplaced = false
            try store.write { connection in
                if !isReplaced {
                    isReplaced = true
                    for suffix in ["-wal", "-shm"] { unlink(file.path + suffix) }
                    try FileManager.default.moveItem(at: file, to: folder.file("a.sqlite.damaged"))
                    let other = StoreDatabase(url: file, schema: Self.schema)
                    try other.write { try $0.run("INSERT INTO t VALUES (2)") }
                }
                try connection.run("INSERT INTO t VALUES (3)")
            }
            let found = try store.read { try $0.rows("SELECT a FROM t ORDER BY a") { $0.value(0, Int.self) } }
            #expect(found == [2, 3])
        }

        /// By the lock another process finds that the file is in use. Without it, that process removes the log when it closes
        /// its last connection.
        @Test("a second store on a file leaves the first one its lock")
        func locks() throws {
            let folder = try TemporaryFolder()
            let file = folder.file("a.sqlite")
            let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            try #require(descriptor >= 0)
            // This releases all locks of the process, so it comes after the stores' ends.
            defer { close(descriptor) }
            do {
                let first = StoreDatabase(url: file, schema: Self.schema)
                try first.write { try $0.run("INSERT INTO t VALUES (1)") }
                let second = StoreDatabase(url: file, schema: Self.schema)
                #expect(try second.read { try $0.first(Int.self, "SELECT count(*) FROM t") } == 1)
                // The bytes that SQLite locks while a connection is open.
                var lock = flock()
                lock.l_type = Int16(F_WRLCK)
                lock.l_whence = Int16(SEEK_SET)
                lock.l_start = 0x4000_0002
                lock.l_len = 510
                // F_OFD_GETLK, which not all C libraries define, sees the locks of this process, too.
                let result = fcntl(descriptor, 36, &lock)
                #expect(result == 0 && lock.l_type == Int16(F_RDLCK))
                withExtendedLifetime((first, second)) {}
            }
        }

        /// Files as the library has left them while it used GRDB, whose migrator made the first ones.
        @Test(
            "cookies of earlier versions are read and kept",
            arguments: [
                """
                CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                INSERT INTO grdb_migrations VALUES ('cookie');
                """, "PRAGMA user_version = 1;",
            ])
        func earlierCookies(history: String) async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("Cookies.sqlite")
            try SQLiteDatabase(path: file.path, busyTimeout: 5000).use { connection in
                try connection.execute(
                    """
                    PRAGMA journal_mode = WAL;
                    \(history)
                    CREATE TABLE cookie (
                        domain TEXT NOT NULL, isHostOnly INTEGER NOT NULL, path TEXT NOT NULL, name TEXT NOT NULL,
                        value TEXT NOT NULL, expires REAL NOT NULL, creation REAL NOT NULL, stored REAL NOT NULL,
                        isSecure INTEGER NOT NULL, isHTTPOnly INTEGER NOT NULL, sameSite TEXT NOT NULL, legacy BLOB,
                        PRIMARY KEY (domain, isHostOnly, path, name)
                    ) WITHOUT ROWID;
                    INSERT INTO cookie VALUES (
                        'h.example', 0, '/', 'a', 'é', 9e9, 6.25, 8.5, 1, 0, 'lax',
                        CAST('{"version":1,"comment":"c","isDiscarded":false}' AS BLOB));
                    INSERT INTO cookie VALUES ('h.example', 1, '/p', 'b', '', 9e9, 7, 8, 0, 1, 'none', NULL);
                    """)
            }
            let storage = HTTPCookieStorage(persistence: CookieDatabase(url: file))
            let cookies = storage.cookies ?? []
            #expect(cookies.map { $0.name + $0.value } == ["aé", "b"])
            #expect(cookies.first?.version == 1 && cookies.first?.comment == "c" && cookies.first?.isSecure == true)
            #expect(cookies.first?.expiresDate == Date(timeIntervalSinceReferenceDate: 9e9))
            #expect(cookies.last?.isHTTPOnly == true && cookies.last?.path == "/p")
            if let first = cookies.first { storage.deleteCookie(first) }
            try await storage.flush()
            #expect(HTTPCookieStorage(persistence: CookieDatabase(url: file)).cookies?.map(\.name) == ["b"])
            let version = try SQLiteDatabase(path: file.path, busyTimeout: 5000).use {
                try $0.first(Int.self, "PRAGMA user_version")
            }
            #expect(version == 1)
            #expect(try !folder.contents().contains("Cookies.sqlite.damaged"))
        }

        @Test("a read that has failed, which SQLite reports as damage, leaves the file where it is")
        func failedRead() throws {
            let folder = try TemporaryFolder()
            let schema = StoreSchema(steps: ["CREATE TABLE number (value INTEGER)"])
            let database = StoreDatabase(url: folder.file("Numbers.sqlite"), schema: schema)
            try database.write { try $0.execute("INSERT INTO number VALUES (7)") }
            #expect(throws: StoreFailure.self) {
                try database.read { _ in throw SQLiteError(code: 11, message: "database disk image is malformed") }
            }
            #expect(try database.read { try $0.first(Int.self, "SELECT value FROM number") } == 7)
            #expect(try !folder.contents().contains("Numbers.sqlite.damaged"))
        }

        @Test("a file that a newer version has taken over meanwhile is left alone")
        func newerMeanwhile() throws {
            let folder = try TemporaryFolder()
            let file = folder.file("a.sqlite")
            let store = StoreDatabase(url: file, schema: Self.schema)
            try store.write { try $0.run("INSERT INTO t VALUES (1)") }
            let steps = Self.schema.steps + ["ALTER TABLE t ADD COLUMN b", "CREATE TABLE other (a)"]
            let newer = StoreDatabase(url: file, schema: StoreSchema(steps: steps))
            try newer.write { try $0.run("INSERT INTO t VALUES (2, 3)") }
            for text in ["INSERT INTO t VALUES (4)", "INSERT INTO t (a) VALUES (4)", "DELETE FROM t"] {
                let error = #expect(throws: StoreFailure.self) { try store.write { try $0.run(text) } }
                #expect(error?.description.contains("newer") == true)
            }
            let error = #expect(throws: StoreFailure.self) { try store.read { try $0.run("SELECT c FROM t") } }
            #expect(error?.description.contains("newer") == true)
            #expect(try newer.read { try $0.first(Int.self, "SELECT count(*) FROM t") } == 2)
            #expect(try !folder.contents().contains("a.sqlite.damaged"))
        }

        @Test("secure hosts of earlier versions are read")
        func earlierHosts() throws {
            let folder = try TemporaryFolder()
            let file = folder.file("StrictTransport.sqlite")
            try SQLiteDatabase(path: file.path, busyTimeout: 5000).use {
                try $0.execute(
                    """
                    PRAGMA journal_mode = WAL;
                    CREATE TABLE policy (
                        host TEXT PRIMARY KEY NOT NULL, ends REAL NOT NULL, includesSubdomains INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    PRAGMA user_version = 1;
                    INSERT INTO policy VALUES ('a.example', 9e9, 1), ('b.example', 9e9, 0), ('c.example', 'x', 0);
                    """)
            }
            let policies = try HSTSDatabase(url: file).load()
            #expect(policies.mapValues(\.includesSubdomains) == ["a.example": true, "b.example": false])
        }
    }
#endif
