#if Persistence
    import CLoadingKitSQLite
    import Glibc
    import LoadingKitPrimitives

    /// An SQLite database file that this process's threads use in turn.
    final class SQLiteDatabase: @unchecked Sendable {  // the lock guards the connection
        private let connection: SQLiteConnection
        private let turn = Guarded(())

        /// Opens a file, which is created if it does not exist.
        ///
        /// - Parameter busyTimeout: The time that a statement waits for another connection that has locked the file, in
        ///   milliseconds.
        init(path: String, busyTimeout: Int32) throws {
            connection = try SQLiteConnection(path: path, busyTimeout: busyTimeout)
        }

        /// Waits for its turn. `body` must use this database only by the given connection.
        func use<Result: Sendable>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
            try turn.withLock { _ in try body(connection) }
        }
    }

    /// A connection to an SQLite database, and its prepared statements. One thread at a time uses it.
    final class SQLiteConnection {
        private let handle: OpaquePointer
        /// The statements that are not running, by their text. All texts are the library's own, and few.
        private var statements: [String: SQLiteStatement] = [:]

        fileprivate init(path: String, busyTimeout: Int32) throws {
            var opened: OpaquePointer?
            // SQLite needs no mutex of its own: `SQLiteDatabase` has one.
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            let code = sqlite3_open_v2(path, &opened, flags, nil)
            guard code == SQLITE_OK, let opened else {
                defer { sqlite3_close_v2(opened) }
                throw SQLiteError(
                    code: sqlite3_extended_errcode(opened), message: String(cString: sqlite3_errmsg(opened)))
            }
            handle = opened
            sqlite3_extended_result_codes(handle, 1)
            sqlite3_busy_timeout(handle, busyTimeout)
        }

        /// The last connection to a file transfers the log's contents to the database, and removes the log. It does not
        /// if another file has replaced the one that was opened.
        deinit {
            statements = [:]
            sqlite3_close_v2(handle)
        }

        /// Whether the last failure of a system call on the file, or on the log beside it, was that of a read which SQLite
        /// reports as damage.
        var hasFailedToRead: Bool {
            var (ofFile, ofLog) = (Int32(0), Int32(0))
            sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &ofFile)
            var log: UnsafeMutablePointer<sqlite3_file>?
            sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
            if let log, let methods = log.pointee.pMethods {
                _ = methods.pointee.xFileControl?(log, SQLITE_FCNTL_LAST_ERRNO, &ofLog)
            }
            // For these codes SQLite reports a damaged file system.
            return [EIO, ENXIO, ERANGE].contains { $0 == ofFile || $0 == ofLog }
        }

        /// Runs statements without parameters. Resulting rows are dropped.
        func execute(_ script: String) throws {
            let code = sqlite3_exec(handle, script, nil, nil, nil)
            guard code == SQLITE_OK else { throw SQLiteError(code: code, handle) }
        }

        /// Runs a statement to its end. Resulting rows are dropped.
        func run(_ sql: String, _ values: [(any SQLiteValue)?] = []) throws {
            try forEach(sql, values) { _ in }
        }

        func forEach(_ sql: String, _ values: [(any SQLiteValue)?] = [], _ body: (SQLiteRow) throws -> Void) throws {
            try withStatement(sql, values) { statement in
                while let row = try statement.step() { try body(row) }
            }
        }

        /// The results of `transform` for each row of a statement's result. Rows for which it returns nil are skipped.
        func rows<Element>(
            _ sql: String, _ values: [(any SQLiteValue)?] = [], _ transform: (SQLiteRow) throws -> Element?
        ) throws -> [Element] {
            var elements: [Element] = []
            try forEach(sql, values) { if let element = try transform($0) { elements.append(element) } }
            return elements
        }

        /// The first column of the first row; nil if there is no row or the value has another type.
        func first<Value: SQLiteValue>(
            _ type: Value.Type, _ sql: String, _ values: [(any SQLiteValue)?] = []
        ) throws -> Value? {
            try withStatement(sql, values) { try $0.step()?.value(0) }
        }

        /// Runs `body` in a transaction that may write. The transaction is rolled back if `body` throws.
        func transaction<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
            try execute("BEGIN IMMEDIATE")
            do {
                let result = try body(self)
                try execute("COMMIT")
                return result
            } catch {
                // After some errors, such as a full disk, SQLite has already rolled back the transaction.
                if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
                throw error
            }
        }

        /// A running statement is removed from the stored ones, so that its text can be run again meanwhile.
        private func withStatement<Result>(
            _ sql: String, _ values: [(any SQLiteValue)?], _ body: (SQLiteStatement) throws -> Result
        ) throws -> Result {
            let statement = try statements.removeValue(forKey: sql) ?? SQLiteStatement(sql, handle)
            defer {
                statement.reset()
                statements[sql] = statement
            }
            try statement.bind(values)
            return try body(statement)
        }
    }

    /// A prepared statement. The thread that uses its connection uses it.
    private final class SQLiteStatement {
        private let connection: OpaquePointer
        private let handle: OpaquePointer

        init(_ sql: String, _ connection: OpaquePointer) throws {
            var prepared: OpaquePointer?
            let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
            guard code == SQLITE_OK else { throw SQLiteError(code: code, connection) }
            // An empty text contains no statement.
            guard let prepared else { throw SQLiteError(code: SQLITE_MISUSE, message: "no statement") }
            self.connection = connection
            handle = prepared
        }

        deinit { sqlite3_finalize(handle) }

        /// Binds the parameters to values. The numbers of both must be equal.
        func bind(_ values: [(any SQLiteValue)?]) throws {
            guard values.count == Int(sqlite3_bind_parameter_count(handle)) else {
                throw SQLiteError(code: SQLITE_RANGE, message: "\(values.count) values for other parameters")
            }
            for (index, value) in zip(Int32(1)..., values) {
                let code = value?.bind(to: handle, at: index) ?? sqlite3_bind_null(handle, index)
                guard code == SQLITE_OK else { throw SQLiteError(code: code, connection) }
            }
        }

        /// The next row, which is valid until the next call of any method; nil if there are no more.
        func step() throws -> SQLiteRow? {
            let code = sqlite3_step(handle)
            switch code {
            case SQLITE_ROW: return SQLiteRow(statement: handle)
            case SQLITE_DONE: return nil
            default: throw SQLiteError(code: code, connection)
            }
        }

        /// Prepares the statement to be run again. These calls only repeat errors that `step()` has thrown.
        func reset() {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
    }

    /// A row of a statement's result. It is valid while the closure that gets it is running.
    struct SQLiteRow {
        fileprivate let statement: OpaquePointer

        /// The value of a column. The first column has number 0. Nil if the file contains a value of another type.
        func value<Value: SQLiteValue>(_ column: Int, _ type: Value.Type = Value.self) -> Value? {
            Value(statement, column: Int32(truncatingIfNeeded: column))
        }
    }

    /// An SQLite error (https://www.sqlite.org/rescode.html).
    struct SQLiteError: Error, CustomStringConvertible {
        /// The extended result code.
        let code: Int32
        let message: String

        var primaryCode: Int32 { code & 0xFF }

        var description: String { "SQLite error \(code): \(message)" }
    }

    extension SQLiteError {
        fileprivate init(code: Int32, _ connection: OpaquePointer) {
            self.init(code: code, message: String(cString: sqlite3_errmsg(connection)))
        }
    }
#endif
