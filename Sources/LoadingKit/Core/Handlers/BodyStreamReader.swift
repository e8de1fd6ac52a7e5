import Foundation
import LoadingKitTransport
import Synchronization

/// Reads an `InputStream`. One of a bound pair notifies when it has bytes; any other may block, and has a thread for code of the
/// program's while it is read.
package final class BodyStreamReader: BodySource, @unchecked Sendable {  // one read at a time, each on one thread
    /// Bytes asked of the stream at a time.
    package static let pieceSize = 64 * 1024

    private let stream: InputStream
    private let isClaimed = Atomic<Bool>(false)
    private let hasRead = Atomic<Bool>(false)

    package init(_ stream: InputStream) { self.stream = stream }

    /// Throws when the stream was claimed before: its bytes can be had once.
    package func claim() throws {
        guard !isClaimed.exchange(true, ordering: .relaxed) else {
            throw LoadFailure(.requestBodyStreamExhausted, "the request's body stream was read before")
        }
    }

    /// The rest is not needed. The writer at the other end of a bound pair learns of it; but a stream of which nothing
    /// was read may be sent yet, when there is a network.
    package func abandon() { if hasRead.load(ordering: .relaxed) { Self.close(stream) } }

    /// Closes a bound pair's stream, whose other end the program may be writing to.
    static func close(_ stream: InputStream?) { if stream is BoundInputStream { stream?.close() } }

    /// Gives the next piece, on any thread; nil at the end.
    package func read(_ done: @escaping @Sendable (Result<Data?, any Error>) -> Void) {
        hasRead.store(true, ordering: .relaxed)
        if let stream = stream as? BoundInputStream {
            return stream.read(atMost: Self.pieceSize) { done(self.closingAtEnd($0)) }
        }
        let work = BlockingPool.Work({ done(Result { try self.readBlocking() }) }) { refusal in
            done(.failure(LoadFailure(.resourceUnavailable, "the request's body stream cannot be read: \(refusal)")))
        }
        BlockingPool.userCode.run(work)
    }

    private func closingAtEnd(_ result: Result<Data?, any Error>) -> Result<Data?, any Error> {
        switch result {
        case .success(.some): return result
        case .success(nil):
            stream.close()
            return result
        case .failure(let error):
            stream.close()
            return .failure(Self.failure(error))
        }
    }

    private func readBlocking() throws -> Data? {
        if stream.streamStatus == .notOpen { stream.open() }
        var piece = Data(count: Self.pieceSize)
        let count = piece.withUnsafeMutableBytes { buffer -> Int in
            guard let base = buffer.bindMemory(to: UInt8.self).baseAddress else { return -1 }
            return stream.read(base, maxLength: buffer.count)
        }
        if count > 0 { return piece.prefix(count) }
        // Asked for where there is none, it ends the process.
        let error = stream.streamStatus == .error ? stream.streamError : nil
        stream.close()
        if count == 0 && error == nil { return nil }
        throw Self.failure(error)
    }

    private static func failure(_ error: (any Error)?) -> LoadFailure {
        LoadFailure(
            .requestBodyStreamExhausted,
            "the request's body stream failed: \(error.map { String(describing: $0) } ?? "no reason given")")
    }
}

/// Gives a request's body a piece at a time, without blocking the caller.
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
