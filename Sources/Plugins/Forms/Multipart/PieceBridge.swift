import Foundation

/// Passes the pieces of an asynchronous sequence to a waiting thread, one at a time.
///
/// It uses a condition, because `InputStream.read` blocks its calling thread. This thread never belongs to Swift's task
/// pool: a session reads streams on threads for blocking code.
final class PieceBridge: @unchecked Sendable {  // all state is guarded by `condition`
    /// Passes each piece to `deliver`, which returns when the piece was taken.
    typealias Producer = @Sendable (_ deliver: @Sendable (Data) async throws -> Void) async throws -> Void

    private let condition = NSCondition()
    private let produce: Producer
    private var producer: Task<Void, Never>?
    private var piece: Data?
    private var end: Result<Void, any Error>?
    /// The continuation of the producer, until its piece is taken.
    private var delivery: CheckedContinuation<Void, any Error>?

    init(_ produce: @escaping Producer) { self.produce = produce }

    /// Waits for the next piece; nil at the end. The first call starts the sequence.
    func next() throws -> Data? {
        start()
        let (next, taken) = try condition.withLock { () throws -> (Data?, CheckedContinuation<Void, any Error>?) in
            while self.piece == nil, end == nil { condition.wait() }
            if let next = self.piece.take() { return (next, delivery.take()) }
            if case .failure(let error) = end { throw error }
            return (nil, nil)
        }
        taken?.resume()
        return next
    }

    /// The rest is not needed: ends the sequence, and the wait for its next piece.
    func cancel() { finish(.failure(CancellationError())) }

    private func start() {
        condition.withLock {
            guard producer == nil, end == nil else { return }
            producer = Task { [self] in
                do {
                    try await produce { piece in try await self.deliver(piece) }
                    finish(.success(()))
                } catch {
                    finish(.failure(error))
                }
            }
        }
    }

    private func deliver(_ new: Data) async throws {
        guard !new.isEmpty else { return try Task.checkCancellation() }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let isOver = condition.withLock {
                // A second call while one waits: from two tasks of the program.
                guard end == nil, delivery == nil else { return true }
                piece = new
                delivery = continuation
                condition.broadcast()
                return false
            }
            if isOver { continuation.resume(throwing: CancellationError()) }
        }
    }

    /// Only the first end counts.
    private func finish(_ result: Result<Void, any Error>) {
        let waiting = condition.withLock { () -> CheckedContinuation<Void, any Error>? in
            guard end == nil else { return nil }
            end = result
            if case .failure = result { piece = nil }
            condition.broadcast()
            return delivery.take()
        }
        waiting?.resume(throwing: CancellationError())
        if case .failure = result { condition.withLock { producer }?.cancel() }
    }
}

/// Iterates over an asynchronous sequence, and passes on its pieces.
struct PieceProducer<Pieces: AsyncSequence>: Sendable where Pieces.Element: DataProtocol {
    let make: @Sendable () async throws -> Pieces

    func produce(_ deliver: @Sendable (Data) async throws -> Void) async throws {
        for try await piece in try await make() { try await deliver(Data(piece)) }
    }
}
