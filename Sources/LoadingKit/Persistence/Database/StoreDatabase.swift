#if Persistence
    import CLoadingKitSQLite
    import Foundation
    import LoadingKitCore
    import LoadingKitPrimitives
    import LoadingKitTransport
    import Synchronization

    /// The SQLite database of a store. It is created when there is first something to store, and is readable only by
    /// its user. If its file is damaged, the file is renamed and a new one is created. Where too many databases are open,
    /// it is closed until its next use. The methods block.
    final class StoreDatabase: Sendable {
        /// The durability of a transaction after its end.
        enum Durability: String {
            /// The transaction survives the end of the process and of the machine.
            case full = "FULL"
            /// The transaction survives the end of the process, but not a loss of power.
            case process = "NORMAL"
        }

        private struct Connection: Sendable {
            let writer: SQLiteDatabase
            /// Reads while the other connection writes; nil if this is not required.
            let reader: SQLiteDatabase?
            /// The number of the file on which the connection is open.
            let file: UInt64
            /// Another one for each connection.
            let number: Int
        }

        /// The time that another process may lock the file, in milliseconds.
        private static let patience: Int32 = 5000

        /// Held while a file is being created, and awaited before one is opened: whenever a process closes any descriptor of
        /// a file, it loses the locks that SQLite holds on that file, whichever descriptor it took them with (fcntl(2)).
        private static let creation = Guarded(())

        /// The types of file systems that several machines may use at the same time: NFS, CIFS, SMB2, Ceph, AFS and 9p.
        private static let networkTypes: Set<Int> = [
            0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x00C3_6400, 0x5346_414F, 0x0102_1997,
        ]

        let url: URL
        private let path: String
        private let schema: StoreSchema
        private let durability: Durability
        private let log: StoreLog
        private let fileSystemType: @Sendable (_ folder: String) -> Int
        private let connection = Guarded<Connection?>(nil)
        /// Held while the database is being opened.
        private let opening = Guarded(())
        private let openDatabases: OpenDatabases
        private let lastUseNumber = Atomic<Int>(0)

        init(
            url: URL, schema: StoreSchema, durability: Durability = .full, log: StoreLog = StoreLog(),
            among openDatabases: OpenDatabases = .ofProcess,
            fileSystemType: @escaping @Sendable (_ folder: String) -> Int = { SystemCalls.fileSystemType($0) }
        ) {
            self.url = url
            path = url.path
            self.schema = schema
            self.durability = durability
            self.log = log
            self.openDatabases = openDatabases
            self.fileSystemType = fileSystemType
        }

        deinit { openDatabases.remove(ObjectIdentifier(self)) }

        var exists: Bool { fileNumber != nil }

        /// The number of the last use, by which open databases are compared.
        var lastUse: Int { lastUseNumber.load(ordering: .relaxed) }

        /// Reads; nil if there is no database. Several statements may see different states of the database. If a read
        /// fails, `body` is called again.
        func read<Result: Sendable>(_ body: (SQLiteConnection) throws -> Result) throws -> Result? {
            guard let file = fileNumber else { return nil }
            return try perform(on: file) { try ($0.reader ?? $0.writer).use(body) }
        }

        /// Writes in a transaction. If a read fails, `body` is called again; if the file is found damaged, with a new
        /// file; and if another file has replaced it meanwhile, with that one. Only the last call's result is returned.
        func write<Result: Sendable>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
            do {
                let (result, file) = try transact(body)
                // Another process has put the file aside, with these changes.
                if let present = fileNumber, present != file { return try transact(body).result }
                return result
            } catch let error where StoreFailure.isDamage(error) {
                return try transact(body).result
            }
        }

        /// - Returns: The result, and the number of the file with the changes.
        private func transact<Result: Sendable>(
            _ body: (SQLiteConnection) throws -> Result
        ) throws -> (result: Result, file: UInt64) {
            try perform(on: fileNumber) { connection in
                let result = try connection.writer.use { connection in
                    try connection.transaction { connection -> Result in
                        // A newer version may have brought the file to its schema since it was opened.
                        guard try schema.isKnown(connection) else { throw StoreFailure.newer(path: path) }
                        return try body(connection)
                    }
                }
                return (result: result, file: connection.file)
            }
        }

        /// A value that changes when another process changes the database; nil if there is no database. Only for
        /// ``Durability/full``: its reads and writes use one connection, whose own changes do not count. Each connection
        /// counts anew, so that the value also changes with the connection.
        func version() throws -> String? {
            guard let file = fileNumber else { return nil }
            return try perform(on: file) { connection in
                let count = try connection.writer.use { try $0.first(Int64.self, "PRAGMA data_version") ?? 0 }
                return "\(connection.file) \(connection.number) \(count)"
            }
        }

        /// The version after the waiting changes: until they are on disk, the content there is not that of the store.
        func version<Change: Sendable>(behind writes: WriteBehind<Change>) throws -> String? {
            writes.drain()
            guard writes.isEmpty else {
                throw StoreFailure.unreadable(path: url.path, reason: "changes are not written yet")
            }
            return try version()
        }

        /// Logs a failure of the store and its consequence. Only the first failure is logged.
        func report(_ error: any Error, _ consequence: String) {
            log.warn("\(url.path): \(consequence) (\(error))")
        }

        /// Opens the database if it is not open yet. If it turns out to be damaged, the next use creates a new one. If a
        /// read fails, there is another attempt.
        private func perform<Result>(
            on file: UInt64?, _ body: (Connection) throws -> Result
        ) throws -> Result {
            do { return try attempt(on: file, body) } catch StoreFailure.unreadable {
                return try attempt(on: file, body)
            }
        }

        private func attempt<Result>(
            on file: UInt64?, _ body: (Connection) throws -> Result
        ) throws -> Result {
            do {
                let connection = try connected(to: file)
                do {
                    return try body(connection)
                } catch {
                    throw Failed(file: connection.file, error: error)
                }
            } catch let failed as Failed {
                let isDamage = StoreFailure.isDamage(failed.error)
                guard isDamage || StoreFailure.isOfRead(failed.error) else { throw failed.error }
                if isDamage, isNewer { throw StoreFailure.newer(path: path) }
                guard isDamage, isDamaged(failed.error) else {
                    throw StoreFailure.unreadable(path: path, reason: "\(failed.error)")
                }
                report(failed.error, "damaged; it is put aside as \(url.lastPathComponent).damaged, and begun anew")
                putAside(failed.file)
                throw failed.error
            }
        }

        /// Whether a newer version has brought the file to its schema: statements of this version may then be errors.
        private var isNewer: Bool {
            let other = try? SQLiteDatabase(path: path, busyTimeout: Self.patience)
            return (try? other?.use { try schema.isKnown($0) }) == false
        }

        /// Whether another connection finds the damage, too, without a read that fails: SQLite reports those as damage.
        private func isDamaged(_ error: any Error) -> Bool {
            guard (error as? SQLiteError)?.primaryCode == SQLITE_CORRUPT else { return true }
            guard let other = try? SQLiteDatabase(path: path, busyTimeout: Self.patience) else { return false }
            let isDamaged = try? other.use { connection in
                do {
                    let result = try connection.first(String.self, "PRAGMA integrity_check(1)")
                    return result != "ok" && !connection.hasFailedToRead
                } catch {
                    return StoreFailure.isDamage(error) && !connection.hasFailedToRead
                }
            }
            return isDamaged ?? false
        }

        /// The error, and the file in which it occurred.
        private struct Failed: Error {
            let file: UInt64
            let error: any Error
        }

        private func connected(to file: UInt64?) throws -> Connection {
            lastUseNumber.store(openDatabases.nextUse(), ordering: .relaxed)
            if let open = open(on: file) { return open }
            let present: Connection = try opening.withLock { _ in
                if let open = open(on: fileNumber) { return open }
                let opened = try Self.patiently(open)
                replaceConnection(by: opened)
                return opened
            }
            openDatabases.add(self)
            return present
        }

        /// Closes the database until its next use. Uses that have begun end before.
        func close() { replaceConnection(by: nil) }

        /// The former connection is closed by its last user. Closing may write, so it happens without the lock.
        private func replaceConnection(by new: Connection?) {
            withExtendedLifetime(connection.withLock { exchange(&$0, for: new) }) {}
        }

        /// The open connection, unless its file is gone or was replaced: a user may clear a folder of caches, and
        /// another process may have found the file damaged.
        private func open(on file: UInt64?) -> Connection? {
            connection.withLock { $0 }.flatMap { $0.file == file ? $0 : nil }
        }

        /// The number that distinguishes the file from another one with its name; nil if there is no file.
        private var fileNumber: UInt64? {
            var status = stat()
            return SystemCalls.stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
        }

        /// While another process creates the database, SQLite returns an error at once instead of waiting.
        private static func patiently<Result>(_ body: () throws -> Result) throws -> Result {
            let end = ContinuousClock.now + .milliseconds(patience)
            while true {
                do { return try body() } catch let error where StoreFailure.isBusy(error) && ContinuousClock.now < end {
                    SystemCalls.pause(nanoseconds: 20_000_000)
                }
            }
        }

        private func open() throws -> Connection {
            try makeFile()
            let file = fileNumber ?? 0
            do {
                let writer = try SQLiteDatabase(path: url.path, busyTimeout: Self.patience)
                let isOurs = try writer.use { connection in
                    try setJournalMode(connection)
                    try connection.execute("PRAGMA synchronous = \(durability.rawValue)")
                    return try schema.apply(to: connection)
                }
                guard isOurs else { throw StoreFailure.newer(path: url.path) }
                // The reader may write, too: the connection that is closed last transfers the log to the database.
                let reader =
                    switch durability {
                    case .full: nil as SQLiteDatabase?
                    case .process: try SQLiteDatabase(path: url.path, busyTimeout: Self.patience)
                    }
                return Connection(writer: writer, reader: reader, file: file, number: openDatabases.nextUse())
            } catch let error where StoreFailure.isDamage(error) || StoreFailure.isOfRead(error) {
                throw Failed(file: file, error: error)
            }
        }

        /// A write-ahead log needs memory that all users of the file share, which processes of several machines cannot.
        private func setJournalMode(_ connection: SQLiteConnection) throws {
            guard Self.networkTypes.contains(fileSystemType(url.deletingLastPathComponent().path)) else {
                // If the file system lacks shared memory, SQLite uses another journal mode, which works as well.
                return try connection.execute("PRAGMA journal_mode = WAL")
            }
            do {
                try connection.execute("PRAGMA journal_mode = DELETE")
            } catch let error where StoreFailure.isBusy(error) {
                // A process of an earlier version uses the file with a log. A later opening of the file ends that.
            }
        }

        /// Creates the file if it does not exist. SQLite creates the files beside it with the mode of this file.
        private func makeFile() throws {
            try StoreFolder.make(url.deletingLastPathComponent())
            try makeMissingFile()
            var code = errorOfAccess()
            // Another process has just put the file aside.
            if code == ENOENT {
                try makeMissingFile()
                code = errorOfAccess()
            }
            try StoreFailure.check("open", url.path, -Int(code))
        }

        private func makeMissingFile() throws {
            try Self.creation.withLock { _ in
                guard !exists else { return }
                let descriptor = SystemCalls.open(url.path, O_RDWR | O_CREAT, mode: 0o600)
                try StoreFailure.check("open", url.path, descriptor)
                SystemCalls.close(Int32(descriptor))
            }
        }

        /// The error with which the process's effective user cannot read and write the file; 0 if it can. Where it can
        /// only read it, SQLite would open it for reading alone.
        private func errorOfAccess() -> Int32 {
            faccessat(AT_FDCWD, url.path, R_OK | W_OK, AT_EACCESS) == 0 ? 0 : errno
        }

        /// Renames the damaged file. The first process that finds it does so.
        private func putAside(_ file: UInt64) {
            opening.withLock { _ in
                guard fileNumber == file else { return }
                replaceConnection(by: nil)
                for suffix in ["-wal", "-shm", "-journal"] { _ = SystemCalls.unlink(url.path + suffix) }
                _ = SystemCalls.rename(url.path, url.path + ".damaged")
            }
        }
    }

    /// The tables of a store's database, as steps. A file's `user_version` is the number of applied steps.
    struct StoreSchema: Sendable {
        /// The statements of each version, in order. Existing steps are never changed; changes are added as new steps.
        let steps: [String]

        /// Whether the file's version is not newer.
        func isKnown(_ connection: SQLiteConnection) throws -> Bool {
            try connection.first(Int.self, "PRAGMA user_version") ?? 0 <= steps.count
        }

        /// Updates a file to this version, in one transaction, so that only one of several processes applies each step.
        /// Returns false if the file's version is newer.
        func apply(to connection: SQLiteConnection) throws -> Bool {
            try connection.transaction { connection in
                let version = try connection.first(Int.self, "PRAGMA user_version") ?? 0
                guard version <= steps.count else { return false }
                guard version >= 0, version < steps.count else { return true }
                for step in steps[version...] { try connection.execute(step) }
                try connection.execute("PRAGMA user_version = \(steps.count)")
                return true
            }
        }
    }
#endif
