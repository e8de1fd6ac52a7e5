#if Persistence
    import CLoadingKitSQLite
    import Foundation
    import LoadingKitCore
    import LoadingKitPrimitives

    /// Stores background sessions and their transfers in an SQLite database. The contents of requests, responses and
    /// settings are encrypted with AES-256-GCM, as credentials are. The key is in a file beside it.
    ///
    /// The table of transfers contains only small values, so that a journal with very many transfers is read quickly.
    /// All other values are in the table of contents, where `standing` is the transfer's status.
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
            """,
            // The format of the contents has changed: transfers that were begun before cannot be read, which is
            // reported to their programs.
            """
            ALTER TABLE transfer ADD COLUMN next INTEGER NOT NULL DEFAULT 0;
            DROP TABLE content;
            CREATE TABLE content (
                session INTEGER NOT NULL, identifier INTEGER NOT NULL, record BLOB NOT NULL, standing BLOB NOT NULL,
                PRIMARY KEY (session, identifier)
            );
            """,
        ])

        private static let columns =
            "session, identifier, priority, earliestBegin, isSuspended, waitsForProgram, elapsed, asOf, endNumber, next"

        let database: StoreDatabase
        private let sealing: TransferSealing

        /// - Parameter folder: Created if it does not exist. No other user may access it.
        package init(folder: URL, log: StoreLog = StoreLog()) throws {
            try PrivateFolder.make(folder.path)
            database = StoreDatabase(
                url: folder.appendingPathComponent("Transfers.sqlite"), schema: Self.schema, log: log)
            sealing = TransferSealing(keyFile: folder.appendingPathComponent("Transfers.key"))
        }

        /// A damaged file is renamed, and this is logged. A file that the disk does not deliver stays where it is.
        package func load() throws -> JournalContents {
            try reading {
                do { return try read() } catch let error where StoreFailure.isDamage(error) { return try read() }
            }
        }

        private func reading<Result>(_ body: () throws -> Result) throws -> Result {
            do { return try body() } catch {
                throw LoadFailure(.cannotOpenFile, "the journal of background sessions cannot be read: \(error)")
            }
        }

        private func read() throws -> JournalContents {
            let sealing = sealing
            // Where the key cannot be read now, no session is left out: another attempt may succeed.
            if database.exists { try sealing.prepare() }
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
                let transfers = try connection.rows("SELECT \(Self.columns) FROM transfer") { row in
                    TransferRow(row).flatMap { known.contains($0.key.session) ? $0 : nil }
                }
                var contents = JournalContents()
                (contents.sessions, contents.transfers) = (sessions, transfers)
                // A transfer without its session must not become one of another session.
                for text in ["SELECT max(number) FROM session", "SELECT max(session) FROM transfer"] {
                    let highest = try connection.first(Int64.self, text) ?? 0
                    contents.highestSession = max(contents.highestSession, highest)
                }
                return (contents, unreadable)
            }
            guard let (contents, unreadable) = contents else { return JournalContents() }
            if unreadable > 0 {
                database.report(
                    StoreFailure.wrongKey(unreadable), "background sessions cannot be read, and are left out")
            }
            return contents
        }

        package func transfer(_ key: TransferKey) throws -> TransferRecord? {
            try reading {
                try transfers("session = ? AND identifier = ?", [key.session, key.identifier]) { $0 }.first
            }
        }

        package func transfers(
            of session: Int64, _ transform: (TransferRecord) -> TransferRecord
        ) throws -> [TransferRecord] {
            try reading { try transfers("session = ? ORDER BY identifier", [session], transform) }
        }

        /// - Parameter condition: One of the texts above.
        private func transfers(
            _ condition: String, _ values: [any SQLiteValue & Sendable], _ transform: (TransferRecord) -> TransferRecord
        ) throws -> [TransferRecord] {
            try database.read { connection in
                try connection.rows(
                    """
                    SELECT \(Self.columns), record, standing FROM transfer JOIN content USING (session, identifier)
                    WHERE \(condition)
                    """, values
                ) { row in
                    guard let summary = TransferRow(row), let sealed = row.value(10, Data.self),
                        var record = try? sealing.open(TransferRecord.self, sealed, .record(summary.key))
                    else { return nil }
                    do {
                        guard let sealed = row.value(11, Data.self) else { return nil }
                        record.status = try sealing.open(TransferStatus.self, sealed, .status(summary.key))
                    } catch  where summary.endNumber != nil {
                        // The other transfers of the session can still be reported.
                        let text = "the transfer's end cannot be read from the journal of background sessions"
                        record.status = TransferStatus(error: TransferError(.cannotOpenFile, "\(text): \(error)"))
                    } catch {
                        return nil
                    }
                    record.status.next = summary.next
                    record.stage = summary.stage(record.status)
                    return transform(record)
                }
            } ?? []
        }

        /// - Throws: ``RefusedChange`` where the values of a change cannot be stored.
        package func commit(_ changes: [JournalChange]) throws {
            guard !changes.isEmpty else { return }
            do {
                try sealing.prepare()
                // The values are encrypted before the file is locked.
                let statements = try performEach(changes) { try sealing.statements(for: $0) }
                try database.write { connection in
                    _ = try performEach(statements) { statements in
                        for statement in statements { try connection.run(statement.text, statement.values) }
                    }
                }
            } catch let refusal as RefusedChange {
                database.report(refusal.error, "a change to background sessions cannot be stored, and is left out")
                throw refusal
            } catch {
                throw LoadFailure(
                    .cannotWriteToFile, "the journal of background sessions cannot be written: \(error)")
            }
        }

        /// The results of a step for each change. Throws ``RefusedChange`` where the step fails because of the values.
        private func performEach<Element, Result>(
            _ elements: [Element], _ step: (Element) throws -> Result
        ) throws -> [Result] {
            try elements.enumerated().map { index, element in
                do { return try step(element) } catch let error where Self.isOfValues(error) {
                    let text = "the journal of background sessions cannot store this: \(error)"
                    throw RefusedChange(index: index, error: LoadFailure(.cannotWriteToFile, text))
                }
            }
        }

        /// Whether the values cannot be encoded, or SQLite cannot store them: they are too long, or not numbers.
        private static func isOfValues(_ error: any Error) -> Bool {
            guard let error = error as? SQLiteError else { return error is EncodingError }
            return [SQLITE_TOOBIG, SQLITE_CONSTRAINT].contains(error.primaryCode)
        }
    }

    extension TransferRow {
        /// Reads the columns in their order.
        fileprivate init?(_ row: SQLiteRow) {
            guard let session = row.value(0, Int64.self), let identifier = row.value(1, Int.self),
                let priority = row.value(2, Double.self), let asOf = row.value(7, Double.self)
            else { return nil }
            self.init(
                TransferKey(session: session, identifier: identifier), priority: Float(priority),
                earliestBeginDate: row.value(3, Double.self).map { Date(timeIntervalSinceReferenceDate: $0) },
                asOf: Date(timeIntervalSinceReferenceDate: asOf))
            isSuspended = row.value(4) ?? false
            waitsForProgram = row.value(5) ?? false
            elapsed = row.value(6) ?? 0
            endNumber = row.value(8)
            next = row.value(9, Int.self).flatMap { TransferStatus.Part(rawValue: $0) } ?? .content
        }

        /// The stage according to the row, without a service.
        fileprivate func stage(_ status: TransferStatus) -> TransferRecord.Stage {
            if endNumber != nil { return status.error == nil ? .ended : .failed }
            return isSuspended ? .suspended : waitsForProgram ? .waitingForProgram : .queued
        }
    }
#endif
