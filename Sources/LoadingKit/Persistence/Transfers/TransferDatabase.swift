#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitPrimitives

    /// Keeps background sessions and their transfers in an SQLite database. What is said in requests, responses and settings
    /// is encrypted with AES-256-GCM, as credentials are; the key is in a file beside it.
    ///
    /// The table of transfers has what is small, so that a journal of very many is read quickly; all else is in the table of
    /// their contents.
    package final class TransferDatabase: TransferJournal {
        static let schema = StoreSchema(steps: [
            """
            CREATE TABLE session (number INTEGER PRIMARY KEY, sealed BLOB NOT NULL);
            CREATE TABLE transfer (
                session INTEGER NOT NULL, identifier INTEGER NOT NULL, priority REAL NOT NULL, earliestBegin REAL,
                isSuspended INTEGER NOT NULL, waitsForProgram INTEGER NOT NULL, elapsed REAL NOT NULL, asOf REAL NOT NULL,
                endNumber INTEGER, PRIMARY KEY (session, identifier)
            ) WITHOUT ROWID;
            CREATE TABLE content (
                session INTEGER NOT NULL, identifier INTEGER NOT NULL, description BLOB NOT NULL, standing BLOB NOT NULL,
                ending BLOB, PRIMARY KEY (session, identifier)
            );
            """
        ])

        let database: StoreDatabase
        private let sealing: TransferSealing

        /// - Parameter folder: Made where there is none; nobody else may look into it.
        package init(folder: URL, log: StoreLog = StoreLog()) throws {
            try PrivateFolder.make(folder.path)
            database = StoreDatabase(
                url: folder.appendingPathComponent("Transfers.sqlite"), schema: Self.schema, log: log)
            sealing = TransferSealing(keyFile: folder.appendingPathComponent("Transfers.key"))
        }

        /// What is damaged is put aside, and said.
        package func load() throws -> JournalContents {
            do { return try read() } catch let error where StoreFailure.isDamage(error) { return try read() }
        }

        private func read() throws -> JournalContents {
            let sealing = sealing
            let contents = try database.read { connection in
                var unreadable = 0
                let sessions = try connection.rows("SELECT number, sealed FROM session") { row -> JournaledSession? in
                    guard let number = row.value(0, Int64.self), let sealed = row.value(1, Data.self),
                        let session = try? sealing.open(JournaledSession.self, sealed, .session(number))
                    else {
                        unreadable += 1
                        return nil
                    }
                    return session
                }
                let known = Set(sessions.map(\.number))
                let transfers = try connection.rows(
                    """
                    SELECT session, identifier, priority, earliestBegin, isSuspended, waitsForProgram, elapsed, asOf, endNumber
                    FROM transfer
                    """
                ) { row in TransferSummary(row).flatMap { known.contains($0.key.session) ? $0 : nil } }
                var contents = JournalContents(sessions: sessions, transfers: transfers)
                contents.highestSession = try connection.first(Int64.self, "SELECT max(number) FROM session") ?? 0
                return (contents, unreadable)
            }
            guard let (contents, unreadable) = contents else { return JournalContents() }
            if unreadable > 0 {
                database.report(
                    StoreFailure.wrongKey(unreadable), "background sessions cannot be read, and are left out")
            }
            return contents
        }

        package func transfer(_ key: TransferKey) throws -> JournaledTransfer? {
            try transfers("transfer.session = ? AND transfer.identifier = ?", [key.session, key.identifier]) { $0 }
                .first
        }

        package func transfers<Value: Sendable>(
            of session: Int64, _ transform: (JournaledTransfer) throws -> Value
        ) throws -> [Value] {
            try transfers("transfer.session = ? ORDER BY transfer.identifier", [session], transform)
        }

        /// - Parameter condition: One of the texts above.
        private func transfers<Value: Sendable>(
            _ condition: String, _ values: [any SQLiteValue & Sendable],
            _ transform: (JournaledTransfer) throws -> Value
        ) throws -> [Value] {
            let sealing = sealing
            return try database.read { connection in
                try connection.rows(
                    """
                    SELECT session, identifier, priority, earliestBegin, isSuspended, waitsForProgram, elapsed, asOf, endNumber,
                        description, standing
                    FROM transfer JOIN content USING (session, identifier) WHERE \(condition)
                    """, values
                ) { row in
                    guard let summary = TransferSummary(row), let description = row.value(9, Data.self),
                        let standing = row.value(10, Data.self),
                        let description = try? sealing.open(
                            TransferDescription.self, description, .description(summary.key)),
                        let standing = try? sealing.open(TransferStanding.self, standing, .standing(summary.key))
                    else { return nil }
                    return try transform(
                        JournaledTransfer(summary: summary, description: description, standing: standing))
                }
            } ?? []
        }

        package func end(of key: TransferKey) throws -> TransferEnd? {
            let sealed = try database.read { connection in
                try connection.first(
                    Data.self, "SELECT ending FROM content WHERE session = ? AND identifier = ?",
                    [key.session, key.identifier])
            }
            do {
                return try sealed?.flatMap { try sealing.open(TransferEnd.self, $0, .end(key)) }
            } catch let error where error is DecodingError || StoreFailure.isWrongKey(error) {
                // The others of the session can be told.
                let text = "what the journal of background sessions has of the transfer's end cannot be read: \(error)"
                return TransferEnd(
                    error: TransferError(.cannotOpenFile, text), response: nil, progress: TransferProgress(), file: nil,
                    metrics: nil)
            }
        }

        package func commit(_ changes: [JournalChange]) throws {
            guard !changes.isEmpty else { return }
            do {
                // Encrypted before the file is locked.
                let statements = try changes.flatMap { try sealing.statements(for: $0) }
                try database.write { connection in
                    for statement in statements { try connection.run(statement.text, statement.values) }
                }
            } catch {
                throw LoadFailure(
                    .cannotWriteToFile, "the journal of background sessions cannot be written: \(error)")
            }
        }
    }

    extension TransferSummary {
        /// From the columns in the order of the table.
        fileprivate init?(_ row: SQLiteRow) {
            guard let session = row.value(0, Int64.self), let identifier = row.value(1, Int.self),
                let priority = row.value(2, Double.self), let asOf = row.value(7, Double.self)
            else { return nil }
            self.init(
                key: TransferKey(session: session, identifier: identifier), priority: Float(priority),
                earliestBeginDate: row.value(3, Double.self).map { Date(timeIntervalSinceReferenceDate: $0) },
                asOf: Date(timeIntervalSinceReferenceDate: asOf))
            isSuspended = row.value(4) ?? false
            waitsForProgram = row.value(5) ?? false
            elapsed = row.value(6) ?? 0
            endNumber = row.value(8)
        }
    }
#endif
