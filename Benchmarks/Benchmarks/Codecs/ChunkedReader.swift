import LoadingKitHTTP1

/// Reads a chunked response again and again: LoadingKit gives the ranges of its body.
final class ChunkedReader {
    private let buffer: ReceiveBuffer
    private var parser = ResponseParser()

    init(_ response: ChunkedResponse) { buffer = ReceiveBuffer(response.bytes) }

    /// The body's bytes, where they were received.
    func bodyBytes() throws -> Int {
        let bytes = UnsafeRawBufferPointer(buffer.receive())
        var count = 0
        try Self.forEachRange(of: bytes, with: &parser) { count &+= $0.count }
        return count
    }

    /// The body's bytes, moved together: then they are what picohttpparser leaves.
    func gatheredBodyBytes() throws -> Int { try gatheredBody().count }

    /// The body, until the next reading.
    func gatheredBody() throws -> UnsafeRawBufferPointer {
        let bytes = buffer.receive()
        var count = 0
        try Self.forEachRange(of: UnsafeRawBufferPointer(bytes), with: &parser) { range in
            // A body is no longer than what it is in, and goes to where it was, or before.
            guard let base = bytes.baseAddress else { return }
            (base + count).copyMemory(from: base + range.lowerBound, byteCount: range.count)
            count &+= range.count
        }
        return UnsafeRawBufferPointer(rebasing: bytes[..<count])
    }

    @inline(__always)
    private static func forEachRange(
        of bytes: UnsafeRawBufferPointer, with parser: inout ResponseParser, _ body: (Range<Int>) -> Void
    ) throws {
        var position = 0
        while let event = try parser.next(bytes, &position) {
            if case .body(let range) = event { body(range) }
        }
    }
}
