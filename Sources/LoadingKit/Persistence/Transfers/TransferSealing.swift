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
            case status(TransferKey)

            fileprivate var context: Data {
                let text =
                    switch self {
                    case .session(let number): "session \(number)"
                    case .record(let key): "record \(key.session) \(key.identifier)"
                    case .status(let key): "standing \(key.session) \(key.identifier)"
                    }
                return Data(text.utf8)
            }
        }

        typealias Values = [(any SQLiteValue & Sendable)?]
        typealias Statement = (text: String, values: Values)

        private let keyFile: URL
        private let key = Guarded<StoreKey?>(nil)

        init(keyFile: URL) { self.keyFile = keyFile }

        /// Reads the key, which is made where there is none. A key whose file was removed since is written again: another
        /// process could not read what is written next.
        @discardableResult
        func prepare() throws -> StoreKey {
            let known = key.withLock { $0 }
            if let known, FileManager.default.fileExists(atPath: keyFile.path) { return known }
            let read = try StoreKey.readOrMake(keyFile, known)
            key.withLock { $0 = read }
            return read
        }

        func open<Value: Decodable>(_ type: Value.Type, _ sealed: Data, _ place: Place) throws -> Value {
            guard let bytes = try readKey().cipher.open(sealed, context: place.context) else {
                throw StoreFailure.wrongKey(1)
            }
            return try TransferJSON.makeDecoder().decode(type, from: bytes)
        }

        private func seal(_ value: some Encodable, _ place: Place) throws -> Data {
            let bytes = try TransferJSON.makeEncoder().encode(value)
            guard let sealed = try readKey().cipher.seal(bytes, context: place.context) else {
                throw StoreFailure.encryption
            }
            return sealed
        }

        private func readKey() throws -> StoreKey { try key.withLock { $0 } ?? prepare() }

        func statements(for change: JournalChange) throws -> [Statement] {
            switch change {
            case .session(let session):
                let sealed = try seal(session, .session(session.number))
                return [("INSERT OR REPLACE INTO session VALUES (?, ?)", [session.number, sealed])]
            case .forgetSession(let number):
                return ["session WHERE number = ?", "transfer WHERE session = ?", "content WHERE session = ?"].map {
                    ("DELETE FROM " + $0, [number])
                }
            case .begin(let row, let record):
                let identity = identity(row.key)
                let asked = try seal(record.asked, .record(row.key))
                let status = try seal(record.status, .status(row.key))
                return [
                    (
                        "INSERT OR REPLACE INTO transfer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        identity + values(of: row)
                    ),
                    ("INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?)", identity + [asked, status]),
                ]
            case .row(let row):
                let text = """
                    UPDATE transfer SET priority = ?, earliestBegin = ?, isSuspended = ?, waitsForProgram = ?,
                        elapsed = ?, asOf = ?, endNumber = ?, next = ? \(Self.hasIdentity)
                    """
                return [(text, values(of: row) + identity(row.key))]
            case .record(let key, let record):
                let sealed = try seal(record.asked, .record(key))
                return [("UPDATE content SET record = ? " + Self.hasIdentity, [sealed] + identity(key))]
            case .status(let key, let status):
                let sealed = try seal(status, .status(key))
                return [("UPDATE content SET standing = ? " + Self.hasIdentity, [sealed] + identity(key))]
            case .forget(let key):
                return ["transfer", "content"].map { ("DELETE FROM \($0) " + Self.hasIdentity, identity(key)) }
            }
        }

        private static let hasIdentity = "WHERE session = ? AND identifier = ?"

        private func identity(_ key: TransferKey) -> Values { [key.session, key.identifier] }

        /// The row's values, except those that identify it.
        private func values(of row: TransferRow) -> Values {
            [
                Double(row.priority), row.earliestBeginDate?.timeIntervalSinceReferenceDate, row.isSuspended,
                row.waitsForProgram, row.elapsed, row.asOf.timeIntervalSinceReferenceDate, row.endNumber,
                row.next.rawValue,
            ]
        }
    }

    extension TransferRecord {
        fileprivate var asked: TransferRecord {
            var record = self
            record.status = TransferStatus()
            return record
        }
    }
#endif
