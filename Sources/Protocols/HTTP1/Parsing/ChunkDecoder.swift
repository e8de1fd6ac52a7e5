import CLoadingKitShims
import LoadingKitPrimitives

/// Reads a chunked body up to its last chunk (RFC 9112 §7.1):
///
///     chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF
///
/// The line of a chunk's size must end with CRLF. If one recipient accepts a bare LF or a single CR as the end of the
/// line, and another does not, bytes can be smuggled past one of them (RFC 9112 §11.2).
@usableFromInline
struct ChunkDecoder: Sendable {
    @usableFromInline
    enum Step: Sendable {
        /// Before the first digit of a size.
        case size
        /// After `count` digits.
        case digits(UInt64, count: Int)
        /// In the white space after a size.
        case padding(UInt64)
        /// In the extensions after a size, of which `count` bytes were read.
        case extensions(UInt64, count: Int)
        /// After the CR of a size's line.
        case sizeFeed(UInt64)
        /// In a chunk's data, of which this number of bytes, at least one, is left.
        case data(UInt64)
        /// After a chunk's data, and after the CR that follows it.
        case dataReturn, dataFeed
    }

    enum Event {
        case body(Range<Int>)
        case lastChunk
    }

    @usableFromInline var step = Step.size
    private let subject: HeadScanner.Subject
    private let extensionLimit: Int

    init(subject: HeadScanner.Subject, limits: HTTP1Limits) {
        self.subject = subject
        extensionLimit = limits.chunkExtensionBytes
    }

    /// The number of bytes of the current chunk's data that have not arrived; 0 outside of a chunk.
    @inlinable
    var remainingInChunk: UInt64 {
        switch step {
        case .data(let remaining): remaining
        case .size, .digits, .padding, .extensions, .sizeFeed, .dataReturn, .dataFeed: 0
        }
    }

    /// Records that `count` bytes of the current chunk, at most ``remainingInChunk``, were read elsewhere.
    mutating func skipData(_ count: UInt64) {
        let remaining = remainingInChunk
        if remaining > 0 { step = count < remaining ? .data(remaining - count) : .dataReturn }
    }

    /// Reads `input` from `position`. Returns nil if all of it was read. `origin` is the message offset of the input's
    /// first byte.
    mutating func next(
        _ input: UnsafeRawBufferPointer, _ position: inout Int, origin: Int
    ) throws(HTTP1Error) -> Event? {
        while position < input.count {
            if let range = takeData(input, &position) { return .body(range) }
            // The size was the end of the input.
            guard position < input.count else { return nil }
            do throws(HTTP1Error.Kind) {
                let isLast = try take(input[position])
                position += 1
                if isLast { return .lastChunk }
            } catch {
                throw HTTP1Error(error, offset: origin &+ position)
            }
        }
        return nil
    }

    /// The data at the current position of the input, directly or behind a plain size line; nil if other bytes, or
    /// none, follow.
    @inlinable
    @inline(__always)
    mutating func takeData(_ input: UnsafeRawBufferPointer, _ position: inout Int) -> Range<Int>? {
        guard let bytes = input.baseAddress else { return nil }
        let rest: UInt64
        switch step {
        case .dataReturn:
            // The usual case: the input contains the complete size line and all of the chunk's data.
            let line = lk_read_chunk_line(bytes + position, input.count &- position, 1)
            guard line.size > 0 else { return nil }
            position &+= line.length
            guard line.size > UInt64(input.count &- position) else { return takeAll(Int(line.size), &position) }
            rest = line.size
        case .size:
            let line = lk_read_chunk_line(bytes + position, input.count &- position, 0)
            guard line.size > 0 else { return nil }
            position &+= line.length
            rest = line.size
        case .data(let remaining): rest = remaining
        case .digits, .padding, .extensions, .sizeFeed, .dataFeed: return nil
        }
        let count = Int(Swift.min(rest, UInt64(input.count &- position)))
        step = rest > UInt64(count) ? .data(rest - UInt64(count)) : .dataReturn
        return count > 0 ? takeAll(count, &position) : nil
    }

    @inlinable
    @inline(__always)
    func takeAll(_ count: Int, _ position: inout Int) -> Range<Int> {
        let start = position
        position &+= count
        return Range(uncheckedBounds: (start, position))
    }

    /// Takes one byte that is not data. Returns true if it ends the size line of the last chunk.
    private mutating func take(_ byte: UInt8) throws(HTTP1Error.Kind) -> Bool {
        switch step {
        case .size:
            guard let digit = ASCII.hexDigit(byte) else { throw .invalidChunkSize }
            step = .digits(UInt64(digit), count: 1)
        case .digits(let size, let count):
            step = try afterDigits(size, count: count, byte)
        case .padding(let size):
            step = try afterSize(size, byte)
        case .extensions(let size, let count):
            step = try afterExtension(size, count: count, byte)
        case .sizeFeed(let size):
            guard byte == ASCII.lineFeed else { throw .invalidChunkSize }
            step = size == 0 ? .size : .data(size)
            return size == 0
        case .data:
            // `next` handles the data.
            return false
        case .dataReturn:
            guard byte == ASCII.carriageReturn else { throw .missingChunkEnd }
            step = .dataFeed
        case .dataFeed:
            guard byte == ASCII.lineFeed else { throw .missingChunkEnd }
            step = .size
        }
        return false
    }

    private func afterDigits(_ size: UInt64, count: Int, _ byte: UInt8) throws(HTTP1Error.Kind) -> Step {
        guard let digit = ASCII.hexDigit(byte) else { return try afterSize(size, byte) }
        // Leading zeros of a size are harmless, but limited.
        guard size >> 60 == 0, count < 64 else { throw .chunkSizeOverflow }
        return .digits(size << 4 | UInt64(digit), count: count + 1)
    }

    private func afterSize(_ size: UInt64, _ byte: UInt8) throws(HTTP1Error.Kind) -> Step {
        switch byte {
        case ASCII.carriageReturn:
            return .sizeFeed(size)
        case ASCII.semicolon:
            return .extensions(size, count: 1)
        case ASCII.space, ASCII.tab:
            // White space is allowed only before an extension. Old servers pad their sizes to a fixed width, which is
            // harmless in a response; in a request it is refused (RFC 9112 §7.1.1).
            guard subject == .response else { throw .invalidChunkSize }
            return .padding(size)
        case _:
            throw .invalidChunkSize
        }
    }

    private func afterExtension(_ size: UInt64, count: Int, _ byte: UInt8) throws(HTTP1Error.Kind) -> Step {
        if byte == ASCII.carriageReturn { return .sizeFeed(size) }
        guard lk_is_value_byte(byte) != 0 else { throw .invalidChunkSize }
        guard count < extensionLimit else { throw .chunkExtensionTooLong }
        return .extensions(size, count: count + 1)
    }
}
