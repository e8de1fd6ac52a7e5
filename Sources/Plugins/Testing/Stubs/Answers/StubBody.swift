import Foundation

/// A stub's body, ready to be sent.
struct StubBody {
    /// The number of bytes; nil when it is not known yet.
    let length: Int?
    let pieces: AsyncThrowingStream<Data, any Error>

    /// Opens the file, where the body is a file.
    init(_ body: StubResponse.Body) async throws {
        switch body {
        case .none:
            length = 0
            pieces = AsyncThrowingStream { $0.finish() }
        case .data(let data):
            length = data.count
            pieces = Self.stream([data])
        case .pieces(let data):
            length = nil
            pieces = Self.stream(data)
        case .file(let url):
            let file = try await StubFile.open(url)
            length = file.length
            pieces = AsyncThrowingStream { try await file.read() }
        case .stream(let make):
            length = nil
            pieces = make()
        }
    }

    private static func stream(_ pieces: [Data]) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            for piece in pieces where !piece.isEmpty { continuation.yield(piece) }
            continuation.finish()
        }
    }
}

/// A file that is read off Swift's task threads, which must not block. Used by one task.
private final class StubFile: @unchecked Sendable {  // one reader, which waits for each piece
    private static let pieceSize = 256 << 10

    private let handle: FileHandle
    let length: Int

    private init(_ handle: FileHandle) throws {
        self.handle = handle
        length = Int(clamping: try handle.seekToEnd())
        try handle.seek(toOffset: 0)
    }

    static func open(_ url: URL) async throws -> StubFile {
        try await blocking {
            do {
                return try StubFile(FileHandle(forReadingFrom: url))
            } catch {
                throw StubAnswerError(description: "a stub's file cannot be read: \(url.path): \(error)")
            }
        }
    }

    /// Nil at the end.
    func read() async throws -> Data? {
        try await blocking {
            guard let data = try self.handle.read(upToCount: Self.pieceSize), !data.isEmpty else { return nil }
            return data
        }
    }
}

/// Runs blocking code on a Dispatch thread.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
}
