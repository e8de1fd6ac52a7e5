#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitPrimitives
    import LoadingKitTransport

    /// An SQLite database that is a store's own: made when there is first something to keep, readable by its user alone,
    /// put aside and begun anew when its file is damaged. Its methods block.
    final class StoreDatabase: Sendable {
        /// How sure a transaction is when it has ended.
        enum Durability: String {
            /// It outlives the process and the machine.
            case full = "FULL"
            /// It outlives the process; should the machine lose power the last ones may be missing.
            case process = "NORMAL"
        }

        private struct Connection: Sendable {
            let writer: SQLiteDatabase
            /// Reads while the other one writes; nil where there is no such hurry.
            let reader: SQLiteDatabase?
            /// The number of the file that it is open on.
            let file: UInt64
        }

        /// How long another process may hold the file, in milliseconds.
        private static let patience: Int32 = 5000

        let url: URL
        private let schema: StoreSchema
        private let durability: Durability
        private let log: StoreLog
        private let connection = Guarded<Connection?>(nil)
        /// Held while the database is opened.
        private let opening = Guarded(())

        init(url: URL, schema: StoreSchema, durability: Durability = .full, log: StoreLog = StoreLog()) {
            self.url = url
            self.schema = schema
            self.durability = durability
            self.log = log
        }

        /// Whether there is a file.
        var exists: Bool { fileNumber != nil }

        /// Reads; nil when nothing was ever kept. What one call reads need not be of one moment.
        func read<Result: Sendable>(_ body: (SQLiteConnection) throws -> Result) throws -> Result? {
            guard let file = fileNumber else { return nil }
            return try perform(on: file) { try ($0.reader ?? $0.writer).use(body) }
        }

        /// Writes, in a transaction. Tried again when the file was damaged, and is begun anew.
        func write<Result: Sendable>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
            do {
                return try perform(on: fileNumber) { try $0.writer.use { try $0.transaction(body) } }
            } catch let error where StoreFailure.isDamage(error) {
                return try perform(on: fileNumber) { try $0.writer.use { try $0.transaction(body) } }
            }
        }

        /// Says, once, what is wrong with the store.
        func report(_ error: any Error, _ consequence: String) {
            log.warn("\(url.path): \(consequence) (\(error))")
        }

        /// Opens the database if it is not open yet; when it turns out to be damaged the next use begins anew.
        private func perform<Result>(
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
                guard StoreFailure.isDamage(failed.error) else { throw failed.error }
                report(failed.error, "damaged; it is put aside as \(url.lastPathComponent).damaged, and begun anew")
                putAside(failed.file)
                throw failed.error
            }
        }

        /// What went wrong, and with which file.
        private struct Failed: Error {
            let file: UInt64
            let error: any Error
        }

        private func connected(to file: UInt64?) throws -> Connection {
            if let open = open(on: file) { return open }
            return try opening.withLock { _ in
                if let open = open(on: fileNumber) { return open }
                let opened = try Self.patiently(open)
                replaceConnection(by: opened)
                return opened
            }
        }

        /// The former one is closed when its last user lets go of it, which may write: not while the lock is held.
        private func replaceConnection(by new: Connection?) {
            let former = connection.withLock { connection in
                defer { connection = new }
                return connection
            }
            withExtendedLifetime(former) {}
        }

        /// The open connection, unless its file is gone, or another one is in its place: a person may clear a folder of
        /// caches, and another process may have found the file damaged.
        private func open(on file: UInt64?) -> Connection? {
            connection.withLock { $0 }.flatMap { $0.file == file ? $0 : nil }
        }

        /// What distinguishes the file from another of its name; nil where there is none.
        private var fileNumber: UInt64? {
            var status = stat()
            return SystemCalls.stat(url.path, &status) == 0 ? UInt64(status.st_ino) : nil
        }

        /// While the first process makes the database, SQLite does not let others wait for it, but fails them at once.
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
                    // Where the file system lets no memory be shared the journal is another, and serves as well.
                    try connection.execute(
                        "PRAGMA journal_mode = WAL; PRAGMA synchronous = \(durability.rawValue)")
                    return try schema.apply(to: connection)
                }
                guard isOurs else { throw StoreFailure.newer(path: url.path) }
                // It may write, too, so that whichever is closed last puts what is in the log into the database.
                let reader =
                    switch durability {
                    case .full: nil as SQLiteDatabase?
                    case .process: try SQLiteDatabase(path: url.path, busyTimeout: Self.patience)
                    }
                return Connection(writer: writer, reader: reader, file: file)
            } catch let error where StoreFailure.isDamage(error) {
                throw Failed(file: file, error: error)
            }
        }

        /// SQLite gives the files beside it the mode that this one has.
        private func makeFile() throws {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            let descriptor = SystemCalls.open(url.path, O_RDWR | O_CREAT, mode: 0o600)
            try StoreFailure.check("open", url.path, descriptor)
            SystemCalls.close(Int32(descriptor))
        }

        /// The process that finds it first does it.
        private func putAside(_ file: UInt64) {
            opening.withLock { _ in
                guard fileNumber == file else { return }
                replaceConnection(by: nil)
                for suffix in ["-wal", "-shm"] { _ = SystemCalls.unlink(url.path + suffix) }
                _ = SystemCalls.rename(url.path, url.path + ".damaged")
            }
        }
    }

    /// The tables of a store's database, in steps: a file has been through the first so many of them (`user_version`).
    struct StoreSchema: Sendable {
        /// Statements for each version, the first first. What is there is never changed, but followed by another step.
        let steps: [String]

        /// Brings a file to this version, at once for all processes that try. Gives whether the file is not newer.
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
