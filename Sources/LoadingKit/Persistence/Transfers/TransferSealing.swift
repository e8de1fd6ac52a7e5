#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitPrimitives

    /// Encrypts the contents of the journal of transfers, and makes the statements of its changes.
    final class TransferSealing: Sendable {
        /// The place of encrypted contents. Contents cannot be moved to another row unnoticed.
        enum Place {
            case session(Int64)
            case record(TransferKey)
            case standing(TransferKey)

            fileprivate var context: Data {
                let text =
                    switch self {
                    case .session(let number): "session \(number)"
                    case .record(let key): "record \(key.session) \(key.identifier)"
                    case .standing(let key): "standing \(key.session) \(key.identifier)"
                    }
                return Data(text.utf8)
            }
        }

        struct Statement: Sendable {
            let text: String
            let values: [(any SQLiteValue & Sendable)?]
        }

        private let keyFile: URL
        private let key = Guarded<StoreKey?>(nil)

        init(keyFile: URL) { self.keyFile = keyFile }

        func open<Value: Decodable>(_ type: Value.Type, _ sealed: Data, _ place: Place) throws -> Value {
            guard let bytes = try readKey().cipher.open(sealed, context: place.context) else {
                throw StoreFailure.wrongKey(1)
            }
            return try JSONDecoder().decode(type, from: bytes)
        }

        private func seal(_ value: some Encodable, _ place: Place) throws -> Data {
            let bytes = try JSONEncoder().encode(value)
            guard let sealed = try readKey().cipher.seal(bytes, context: place.context) else {
                throw StoreFailure.encryption
            }
            return sealed
        }

        private func readKey() throws -> StoreKey {
            if let key = key.withLock({ $0 }) { return key }
            let read = try StoreKey.readOrMake(keyFile)
            key.withLock { $0 = read }
            return read
        }

        func statements(for change: JournalChange) throws -> [Statement] {
            switch change {
            case .session(let session):
                let sealed = try seal(session, .session(session.number))
                return [
                    Statement(text: "INSERT OR REPLACE INTO session VALUES (?, ?)", values: [session.number, sealed])
                ]
            case .forgetSession(let number):
                return ["session WHERE number = ?", "transfer WHERE session = ?", "content WHERE session = ?"].map {
                    Statement(text: "DELETE FROM " + $0, values: [number])
                }
            case .begin(let row, let record):
                let (key, asked) = (row.key, record.asked)
                return [
                    Statement(
                        text: "INSERT OR REPLACE INTO transfer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        values: [key.session, key.identifier] + values(of: row)),
                    Statement(
                        text: "INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?)",
                        values: [
                            key.session, key.identifier, try seal(asked, .record(key)),
                            try seal(record.standing, .standing(key)),
                        ]),
                ]
            case .row(let row):
                return [
                    Statement(
                        text: """
                            UPDATE transfer SET priority = ?, earliestBegin = ?, isSuspended = ?, waitsForProgram = ?,
                                elapsed = ?, asOf = ?, endNumber = ?, next = ? WHERE session = ? AND identifier = ?
                            """,
                        values: values(of: row) + [row.key.session, row.key.identifier])
                ]
            case .record(let key, let record):
                return [update("record", try seal(record.asked, .record(key)), key)]
            case .standing(let key, let standing):
                return [update("standing", try seal(standing, .standing(key)), key)]
            case .forget(let key):
                return ["transfer", "content"].map {
                    Statement(
                        text: "DELETE FROM \($0) WHERE session = ? AND identifier = ?",
                        values: [key.session, key.identifier])
                }
            }
        }

        /// - Parameter column: One of the texts above.
        private func update(_ column: String, _ sealed: Data, _ key: TransferKey) -> Statement {
            Statement(
                text: "UPDATE content SET \(column) = ? WHERE session = ? AND identifier = ?",
                values: [sealed, key.session, key.identifier])
        }

        /// The row's values, except those that identify it.
        private func values(of row: TransferRow) -> [(any SQLiteValue & Sendable)?] {
            [
                Double(row.priority), row.earliestBeginDate?.timeIntervalSinceReferenceDate, row.isSuspended,
                row.waitsForProgram, row.elapsed, row.asOf.timeIntervalSinceReferenceDate, row.endNumber,
                row.next.rawValue,
            ]
        }
    }

    extension TransferRecord {
        /// The record without its standing, which has a separate column.
        fileprivate var asked: TransferRecord {
            var record = self
            record.standing = TransferStanding()
            return record
        }
    }
#endif
