#if Persistence
    import Foundation
    import GRDB
    import LoadingKitPrimitives
    import LoadingKitTransport

    /// An SQLite database that is a store's own: made when there is first something to keep, readable by its user alone,
    /// put aside and begun anew when its file is damaged. Its methods block.
    final class StoreDatabase: Sendable {
        /// How long another process may hold the file.
        private static let patience: TimeInterval = 5

        let url: URL
        private let migrator: DatabaseMigrator
        private let connection = Guarded<DatabaseQueue?>(nil)

        init(url: URL, migrator: DatabaseMigrator) {
            self.url = url
            self.migrator = migrator
        }

        /// Reads; nil when nothing was ever kept.
        func read<Result: Sendable>(_ body: @Sendable (Database) throws -> Result) throws -> Result? {
            var status = stat()
            guard SystemCalls.stat(url.path, &status) == 0 else { return nil }
            return try perform { try $0.read(body) }
        }

        /// Writes, in a transaction: when this returns, what was written survives the process and the machine.
        func write(_ body: @Sendable (Database) throws -> Void) throws {
            try perform { try $0.write(body) }
        }

        /// Opens the database if it is not open yet; when it turns out to be damaged the next use begins anew.
        private func perform<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
            do {
                return try body(try connected())
            } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
                putAside()
                throw error
            }
        }

        private func connected() throws -> DatabaseQueue {
            if let open = connection.withLock({ $0 }) { return open }
            try makeFile()
            var configuration = Configuration()
            configuration.journalMode = .wal
            configuration.busyMode = .timeout(Self.patience)
            configuration.prepareDatabase { database in
                // What was written is on the disk, and not only on its way there, when a transaction ends.
                try database.execute(sql: "PRAGMA synchronous = FULL")
            }
            let queue = try DatabaseQueue(path: url.path, configuration: configuration)
            try migrator.migrate(queue)
            connection.withLock { $0 = queue }
            return queue
        }

        /// SQLite gives the files beside it the mode that this one has.
        private func makeFile() throws {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            let descriptor = SystemCalls.open(url.path, O_RDWR | O_CREAT, mode: 0o600)
            guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: Int32(-descriptor)) ?? .EIO) }
            _ = SystemCalls.close(Int32(descriptor))
        }

        private func putAside() {
            let open = connection.withLock { connection in
                defer { connection = nil }
                return connection
            }
            try? open?.close()
            for suffix in ["-wal", "-shm"] { _ = SystemCalls.unlink(url.path + suffix) }
            _ = SystemCalls.rename(url.path, url.path + ".damaged")
        }
    }
#endif
