#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitPrimitives

    /// Encrypts what the journal of transfers keeps, and makes the statements of its changes.
    final class TransferSealing: Sendable {
        /// What is encrypted: a row's contents cannot be put into another place.
        enum Place {
            case session(Int64)
            case description(TransferKey)
            case standing(TransferKey)
            case end(TransferKey)

            fileprivate var context: Data {
                let text =
                    switch self {
                    case .session(let number): "session \(number)"
                    case .description(let key): "description \(key.session) \(key.identifier)"
                    case .standing(let key): "standing \(key.session) \(key.identifier)"
                    case .end(let key): "end \(key.session) \(key.identifier)"
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
            case .begin(let transfer): return try statements(beginning: transfer)
            case .summary(let summary): return [statement(updating: summary)]
            case .standing(let key, let standing):
                return [update("standing", try seal(standing, .standing(key)), key)]
            case .description(let key, let description):
                return [update("description", try seal(description, .description(key)), key)]
            case .end(let key, let number, let end):
                let numbered = Statement(
                    text: "UPDATE transfer SET endNumber = ? WHERE session = ? AND identifier = ?",
                    values: [number, key.session, key.identifier])
                return [numbered, update("ending", try seal(end, .end(key)), key)]
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

        private func statements(beginning transfer: JournaledTransfer) throws -> [Statement] {
            let (summary, key) = (transfer.summary, transfer.summary.key)
            return [
                Statement(
                    text: "INSERT OR REPLACE INTO transfer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    values: [key.session, key.identifier] + values(of: summary) + [summary.endNumber]),
                Statement(
                    text: "INSERT OR REPLACE INTO content VALUES (?, ?, ?, ?, NULL)",
                    values: [
                        key.session, key.identifier, try seal(transfer.description, .description(key)),
                        try seal(transfer.standing, .standing(key)),
                    ]),
            ]
        }

        private func statement(updating summary: TransferSummary) -> Statement {
            Statement(
                text: """
                    UPDATE transfer SET priority = ?, earliestBegin = ?, isSuspended = ?, waitsForProgram = ?, elapsed = ?,
                        asOf = ? WHERE session = ? AND identifier = ?
                    """,
                values: values(of: summary) + [summary.key.session, summary.key.identifier])
        }

        private func values(of summary: TransferSummary) -> [(any SQLiteValue & Sendable)?] {
            [
                Double(summary.priority), summary.earliestBeginDate?.timeIntervalSinceReferenceDate,
                summary.isSuspended, summary.waitsForProgram, summary.elapsed,
                summary.asOf.timeIntervalSinceReferenceDate,
            ]
        }
    }
#endif
