import Foundation

extension HTTPCookieStorage {
    /// Returns when all changes made before the call are on disk, and outlive this process; at once for a storage in
    /// memory.
    ///
    /// Throws when the changes could not be written. They stay in memory, and are written with the next change or
    /// flush.
    public func flush() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            flush { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Calls `completion`, on any thread, when all changes made before the call are on disk or could not be written.
    package func flush(_ completion: @escaping @Sendable ((any Error)?) -> Void) {
        guard persistence != nil else { return completion(nil) }
        let (isDone, batch) = state.withLock { state in
            (state.writes.awaitWritten(orCall: completion), state.writes.next())
        }
        if isDone { completion(nil) }
        if let batch { write(batch) }
    }

    /// Writes a batch. Afterwards it writes the changes made meanwhile.
    func write(_ batch: [CookieEdit]) {
        persistence?.write(batch) { error in
            let (waiters, next) = self.state.withLock { state in
                let waiters = state.writes.finish(error)
                // After a failure only the next change or flush starts a new attempt.
                return (waiters, error == nil ? state.writes.next() : nil)
            }
            for waiter in waiters { waiter(error) }
            if let next { self.write(next) }
        }
    }
}
