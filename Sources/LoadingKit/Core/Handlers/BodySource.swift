import Foundation

/// Gives a request's body a piece at a time, without blocking who asks.
package protocol BodySource: AnyObject, Sendable {
    /// Gives the next piece, on any thread, the caller's as well; nil at the end. One at a time.
    func read(_ done: @escaping @Sendable (Result<Data?, any Error>) -> Void)
}

extension BodySource {
    /// The next piece; nil at the end.
    func read() async throws -> Data? {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Data?, any Error>) in
            read { continuation.resume(with: $0) }
        }
    }
}
