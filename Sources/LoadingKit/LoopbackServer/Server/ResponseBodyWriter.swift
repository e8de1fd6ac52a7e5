import LoadingKitHTTP1
import LoadingKitPrimitives

/// Receives a streamed body's pieces, and sends each at once. Confined to the closure that receives the writer.
public final class ResponseBodyWriter {
    /// The error for a stream that wrote more or less than the length that it had announced.
    public struct WrongLength: Error, Sendable, Equatable {
        /// Bytes that the response's head announced.
        public var announced: UInt64
        /// Bytes that were written.
        public var written: UInt64
    }

    /// The request to which the body responds.
    public let request: ServerRequest
    /// The trailer fields, which are sent after the chunks.
    public var trailers: HTTPFields
    private let send: (UnsafeRawBufferPointer) throws -> Void
    private let waitUntilClosed: () throws -> Void
    private let framing: ResponseFraming
    private var written: UInt64 = 0
    private var buffer: [UInt8] = []

    /// - Parameter framing: by default that of a protocol whose frames mark the body's end.
    init(
        _ request: ServerRequest, _ framing: ResponseFraming = .untilClose, trailers: HTTPFields,
        send: @escaping (UnsafeRawBufferPointer) throws -> Void, waitUntilClosed: @escaping () throws -> Void
    ) {
        self.request = request
        self.framing = framing
        self.trailers = trailers
        self.send = send
        self.waitUntilClosed = waitUntilClosed
    }

    /// Writes text as UTF-8.
    public func write(_ text: String) throws {
        try write(Array(text.utf8))
    }

    /// Blocks until the piece has been sent.
    public func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    /// Blocks until the piece has been sent: as a chunk, where the body is chunked.
    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard !bytes.isEmpty else { return }
        written &+= UInt64(bytes.count)
        switch framing {
        case .none: break
        case .untilClose: try send(bytes)
        case .length(let announced):
            guard written <= announced else { throw WrongLength(announced: announced, written: written) }
            try send(bytes)
        case .chunked: try writeChunk(bytes)
        }
    }

    /// Blocks until the test fires the signal.
    public func wait(for signal: Signal) throws {
        try request.exchange.wait(for: signal)
    }

    /// Blocks until the client has ended the connection; in HTTP/2, until it has closed the stream.
    public func waitUntilClientCloses() throws {
        try waitUntilClosed()
    }

    func finish() throws {
        switch framing {
        case .none, .untilClose: break
        case .length(let announced):
            guard written == announced else { throw WrongLength(announced: announced, written: written) }
        case .chunked:
            buffer.removeAll(keepingCapacity: true)
            try ChunkWriter.writeLast(trailers: trailers, into: &buffer)
            try buffer.withUnsafeBytes(send)
        }
    }

    private func writeChunk(_ bytes: UnsafeRawBufferPointer) throws {
        buffer.removeAll(keepingCapacity: true)
        ChunkWriter.writeHeader(count: bytes.count, into: &buffer)
        buffer.append(contentsOf: bytes)
        ChunkWriter.writeEnd(into: &buffer)
        try buffer.withUnsafeBytes(send)
    }
}
