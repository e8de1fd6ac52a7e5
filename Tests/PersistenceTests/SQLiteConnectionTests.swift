#if Persistence
    import CLoadingKitSQLite
    import Foundation
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    @Suite("SQLiteConnection")
    struct SQLiteConnectionTests {
        private let folder: TemporaryFolder
        private var path: String { folder.file("a.sqlite").path }

        init() throws { folder = try TemporaryFolder() }

        private func open(busyTimeout: Int32 = 5000) throws -> SQLiteDatabase {
            try SQLiteDatabase(path: path, busyTimeout: busyTimeout)
        }

        @Test("values come back as they were bound, at the edges of their types, too")
        func roundTrip() throws {
            func expect<Value: SQLiteValue & Equatable & Sendable>(_ values: Value..., type: String) throws {
                for value in values {
                    let found = try open().use { connection in
                        let type = try connection.first(String.self, "SELECT typeof(?)", [value])
                        return (try connection.first(Value.self, "SELECT ?", [value]), type)
                    }
                    #expect(found.0 == value && found.1 == type, "\(value)")
                }
            }
            try expect(0, 1, -1, Int.max, Int.min, type: "integer")
            try expect(Int64.max, Int64.min, type: "integer")
            try expect(true, false, type: "integer")
            try expect(0.0, -1.5, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, type: "real")
            try expect("", "é", "a\0b", "\0", String(repeating: "😀", count: 100_000), type: "text")
            try expect(Data(), Data([0]), Data(count: 3_000_000), Data([1, 2, 3]).dropFirst(), type: "blob")
            let isNull = try open().use { try $0.first(Bool.self, "SELECT ? IS NULL", [nil as Data?]) }
            #expect(isNull == true)
        }

        @Test(
            "a value of another type counts as none",
            arguments: [
                ("NULL", ""), ("1", "int int64 bool double"), ("9223372036854775807", "int int64 bool double"),
                ("9223372036854775808", "double"), ("1.0", "double"), ("9e999", "double"), ("'1'", "text"),
                ("x'31'", "data"), ("zeroblob(0)", "data"), ("''", "text"), ("CAST(x'FF' AS TEXT)", ""),
                ("CAST(x'ED A0 80' AS TEXT)", ""),
            ])
        func types(value: String, expected: String) throws {
            let value = value.replacingOccurrences(of: " A0 80", with: "A080")
            let found = try open().use { connection in
                try connection.rows("SELECT \(value)") { row in
                    [
                        row.value(0, Int.self).map { _ in "int" }, row.value(0, Int64.self).map { _ in "int64" },
                        row.value(0, Bool.self).map { _ in "bool" }, row.value(0, Double.self).map { _ in "double" },
                        row.value(0, String.self).map { _ in "text" }, row.value(0, Data.self).map { _ in "data" },
                        // There are no such columns.
                        row.value(1, Int.self).map { _ in "second" }, row.value(-1, String.self).map { _ in "before" },
                        row.value(.max, Data.self).map { _ in "last" },
                    ].compactMap { $0 }.joined(separator: " ")
                }
            }
            #expect(found == [expected])
        }

        @Test("text of a file in UTF-16 is read")
        func wideText() throws {
            let texts = try open().use { connection in
                try connection.execute("PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a TEXT)")
                for text in ["é😀", "", "a\0b"] { try connection.run("INSERT INTO t VALUES (?)", [text]) }
                return try connection.rows("SELECT a FROM t ORDER BY rowid") { $0.value(0, String.self) }
            }
            #expect(texts == ["é😀", "", "a\0b"])
        }

        @Test("a statement can be run while it is running")
        func nesting() throws {
            let sql = "SELECT value FROM (SELECT 1 AS value UNION SELECT 2) WHERE value >= ? ORDER BY value"
            let found = try open().use { connection in
                try connection.rows(sql, [1]) { outer in
                    let inner = try connection.rows(sql, [2]) { $0.value(0, Int.self) }
                    return "\(outer.value(0, Int.self) ?? 0) \(inner)"
                }
            }
            #expect(found == ["1 [2]", "2 [2]"])
        }

        @Test("a statement keeps nothing of what it was run with, whether it ended, failed or was left")
        func reuse() throws {
            struct Left: Error {}
            let found = try open().use { connection in
                try connection.execute("CREATE TABLE t (a PRIMARY KEY, b)")
                let insert = "INSERT INTO t VALUES (?, ?)"
                try connection.run(insert, [1, "x"])
                #expect(throws: SQLiteError.self) { try connection.run(insert, [1, "y"]) }
                #expect(throws: SQLiteError.self) { try connection.run(insert, [1]) }
                try connection.run(insert, [2, nil])
                #expect(throws: Left.self) { try connection.forEach("SELECT a FROM t") { _ in throw Left() } }
                let first = try connection.first(Int.self, "SELECT a FROM t ORDER BY a")
                #expect(first == 1)
                // A table that is made anew is another one to a statement that was prepared before.
                try connection.execute("DROP TABLE t; CREATE TABLE t (a, b)")
                try connection.run(insert, [3, "z"])
                return try connection.rows("SELECT a FROM t ORDER BY a") { $0.value(0, Int.self) }
            }
            #expect(found == [3])
        }

        @Test(
            "a failure has SQLite's code and text",
            arguments: [
                ("SELEC", SQLITE_ERROR, "syntax error"), ("", SQLITE_MISUSE, "no statement"),
                ("SELECT a FROM missing", SQLITE_ERROR, "no such table: missing"),
                ("SELECT ?", SQLITE_RANGE, "0 values"),
                ("SELECT sum(9223372036854775807) FROM t", SQLITE_ERROR, "overflow"),
                ("INSERT INTO t VALUES (1)", SQLITE_CONSTRAINT | 8 << 8, "UNIQUE constraint failed: t.a"),
            ])
        func failures(sql: String, code: Int32, text: String) throws {
            try open().use { connection in
                try connection.execute("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
                let error = #expect(throws: SQLiteError.self) { try connection.run(sql) }
                #expect(error?.code == code && error?.message.contains(text) == true, "\(String(describing: error))")
            }
        }

        @Test("a file that cannot be opened is a failure")
        func opening() throws {
            let error = #expect(throws: SQLiteError.self) {
                try SQLiteDatabase(path: folder.file("missing/a.sqlite").path, busyTimeout: 0)
            }
            #expect(error?.primaryCode == SQLITE_CANTOPEN)
        }

        @Test("a transaction is made whole, or not at all; afterwards the next one begins")
        func transactions() throws {
            struct Failed: Error {}
            try open().use { connection in
                try connection.execute("CREATE TABLE t (a UNIQUE)")
                try connection.transaction { try $0.run("INSERT INTO t VALUES (1)") }
                #expect(throws: Failed.self) {
                    try connection.transaction { connection in
                        try connection.run("INSERT INTO t VALUES (2)")
                        throw Failed()
                    }
                }
                // One that SQLite undoes itself.
                #expect(throws: SQLiteError.self) {
                    try connection.transaction { connection in
                        try connection.run("INSERT INTO t VALUES (3)")
                        try connection.run("INSERT OR ROLLBACK INTO t VALUES (1)")
                    }
                }
                try connection.transaction { try $0.run("INSERT INTO t VALUES (4)") }
                let found = try connection.rows("SELECT a FROM t ORDER BY a") { $0.value(0, Int.self) }
                #expect(found == [1, 4])
            }
        }

        @Test("who writes while another connection does is told so")
        func busy() throws {
            let (one, two) = (try open(), try open(busyTimeout: 0))
            try one.use { one in
                try one.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
                try one.transaction { _ in
                    let error = #expect(throws: SQLiteError.self) {
                        try two.use { try $0.transaction { try $0.run("INSERT INTO t VALUES (1)") } }
                    }
                    #expect(error.map { StoreFailure.isBusy($0) } == true)
                    let count = try two.use { try $0.first(Int.self, "SELECT count(*) FROM t") }
                    #expect(count == 0)
                }
            }
        }

        @Test("threads take turns")
        func turns() async throws {
            let database = try open()
            try database.use { try $0.execute("CREATE TABLE t (a)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for index in 0..<50 {
                            try database.use { try $0.transaction { try $0.run("INSERT INTO t VALUES (?)", [index]) } }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try database.use { try $0.first(Int.self, "SELECT count(*) FROM t") } == 400)
        }
    }
#endif
