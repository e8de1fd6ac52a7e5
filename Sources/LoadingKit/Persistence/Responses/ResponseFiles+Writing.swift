#if Persistence
    import Foundation
    import LoadingKitCore

    extension ResponseFiles {
        /// A change whose content has already been written to disk.
        private enum Step {
            case insert(ResponseIndex.New)
            case change(ResponseChange)

            /// The content that was written.
            var body: Int64? { if case .insert(let new) = self { new.body } else { nil } }
        }

        /// The number of times that the store waits for a process that has locked the database.
        private static let patience = 6

        /// Applies changes in one transaction. Blocks.
        func write(_ changes: [ResponseChange]) {
            var gone: Set<CacheKey> = []
            do {
                let isNeeded = changes.contains { if case .store = $0 { true } else { false } }
                if isOff {
                    forget(changes)
                    _ = takeUsed()
                } else if try open(creating: isNeeded) {
                    gone = try commit(changes)
                } else {
                    _ = takeUsed()
                }
            } catch {
                switchOff(error)
                forget(changes)
            }
            settle(changes, gone: gone)
        }

        private func commit(_ changes: [ResponseChange]) throws -> Set<CacheKey> {
            var steps: [Step] = []
            do {
                for change in changes { steps.append(try prepare(change)) }
                return try commit(steps)
            } catch {
                // Without their rows, the contents would occupy the disk beyond the capacity.
                bodies.remove(steps.compactMap(\.body))
                throw error
            }
        }

        private func commit(_ steps: [Step]) throws -> Set<CacheKey> {
            let used = takeUsed()
            let (removed, gone) = try patiently {
                try database.write { connection in
                    let now = Date()
                    try ResponseIndex.setUsed(used, connection)
                    var removed = try steps.flatMap { try Self.apply($0, at: now, connection) }
                    removed += try ResponseIndex.fit(capacity, at: now, connection)
                    let gone = try Set(removed.map(\.key)).filter { try !ResponseIndex.has($0, connection) }
                    return (removed, gone)
                }
            }
            bodies.remove(removed.map(\.body))
            return gone
        }

        private func patiently<Result>(_ body: () throws -> Result) throws -> Result {
            for _ in 1..<Self.patience {
                do { return try body() } catch let error where StoreFailure.isBusy(error) { continue }
            }
            return try body()
        }

        /// Writes the content of a response to store. If the response cannot be stored on disk or is too large, the
        /// response that it was to replace is removed.
        private func prepare(_ change: ResponseChange) throws -> Step {
            guard case .store(let entry, let key) = change else { return .change(change) }
            let data = entry.response.parts.data
            guard data.count <= capacity, let head = entry.headBytes(under: key),
                let digest = Self.digest(of: head, data, under: key)
            else { return .change(.remove(key)) }
            let selecting = entry.response.metadata.map { metadata in
                var writer = ByteWriter()
                writer.put(metadata.variant)
                return writer.data
            }
            return .insert(
                ResponseIndex.New(
                    key: key, selecting: selecting, head: head, body: try bodies.write(data), size: data.count,
                    digest: digest, date: entry.date))
        }

        private static func apply(
            _ step: Step, at now: Date, _ connection: SQLiteConnection
        ) throws -> [ResponseIndex.Removed] {
            switch step {
            case .insert(let new): try ResponseIndex.insert(new, at: now, connection)
            case .change(.store(_, let key)), .change(.remove(let key)): try ResponseIndex.remove(key, connection)
            case .change(.discard(let ids)):
                // A damaged row may refer to another row's content. Contents are therefore left for the clean-up.
                try ResponseIndex.remove(ids: ids, connection).map {
                    ResponseIndex.Removed(body: BodyFolder.empty, key: $0.key)
                }
            case .change(.removeAll): try ResponseIndex.removeAll(connection)
            case .change(.removeSince(let date)): try ResponseIndex.removeAll(since: date, connection)
            case .change(.tidy): []
            }
        }

        /// Responses that could not be removed must not be found again: even a full disk allows files to be removed.
        private func forget(_ changes: [ResponseChange]) {
            let bodies = try? database.read { connection in
                try changes.flatMap { change -> [Int64] in
                    switch change {
                    case .store(_, let key), .remove(let key): try ResponseIndex.bodies(of: key, connection)
                    case .removeAll: try Array(ResponseIndex.bodies(connection))
                    case .removeSince(let date): try ResponseIndex.bodies(since: date, connection)
                    case .discard, .tidy: []
                    }
                }
            }
            self.bodies.remove(bodies ?? [])
        }
    }
#endif
