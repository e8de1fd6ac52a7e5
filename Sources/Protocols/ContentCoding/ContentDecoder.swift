/// Decodes a body's content codings while it is received, in constant memory (RFC 9110 §8.4).
///
/// Its reader drives it: each `decode` fills at most the memory that it is given, so a body that expands without end
/// costs only as much as is read of it.
package final class ContentDecoder {
    /// What requests offer: all that is built in.
    package static let acceptEncoding = "gzip, deflate"

    /// Codings one upon the other; more than these no server has a reason for.
    private static let maximumCodings = 4

    /// The coding to undo, the last that was applied.
    private let coding: ContentCoding
    private let stream: InflateStream
    /// Undoes the codings below it, from a buffer of what this one has decoded.
    private let below: ContentDecoder?
    private let buffer: UnsafeMutableRawBufferPointer
    private var bufferPosition = 0
    private var bufferEnd = 0
    private let limits: DecompressionLimits
    /// Coded bytes of the body, and decoded bytes of all codings.
    private var consumed = 0
    private var produced = 0

    /// - Parameter contentEncoding: the field's value. Nil where it names nothing that needs decoding, or a coding that
    ///   is not built in: then the body passes through as it came.
    package convenience init?(contentEncoding: String, limits: DecompressionLimits = DecompressionLimits()) {
        var codings: [ContentCoding] = []
        for token in contentEncoding.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            if token.lowercased() == "identity" { continue }
            guard let coding = ContentCoding(token: token) else { return nil }
            codings.append(coding)
        }
        guard codings.count <= Self.maximumCodings else { return nil }
        self.init(codings[...], limits)
    }

    private init?(_ codings: ArraySlice<ContentCoding>, _ limits: DecompressionLimits) {
        guard let last = codings.last else { return nil }
        coding = last
        stream = InflateStream(last)
        self.limits = limits
        below = ContentDecoder(codings.dropLast(), limits)
        buffer = .allocate(byteCount: below == nil ? 0 : 16 * 1024, alignment: 1)
    }

    deinit { buffer.deallocate() }

    /// Decodes from `input`, whose position moves, into `output`.
    ///
    /// - Returns: how many bytes were put there; 0 when all of the input is used, and more is needed.
    package func decode(
        _ input: UnsafeRawBufferPointer, position: inout Int, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int {
        let start = position
        let count = try undo(input, &position, output)
        consumed += position - start
        produced += count
        if produced > limits.minimumSize && produced / limits.ratio > consumed {
            throw ContentCodingError(coding: coding, kind: .expandsTooFar(ratio: limits.ratio))
        }
        return count
    }

    private func undo(
        _ input: UnsafeRawBufferPointer, _ position: inout Int, _ output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int {
        guard let below else { return try stream.decode(input, &position, into: output) }
        repeat {
            // Even with nothing in the buffer: the coding below may have more than there was room for.
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<bufferEnd])
            let count = try below.undo(piece, &bufferPosition, output)
            if count > 0 { return count }
            bufferPosition = 0
            bufferEnd = try stream.decode(input, &position, into: buffer)
        } while bufferEnd > 0
        return 0
    }

    /// The body has ended: throws when its codings have not.
    package func finish() throws(ContentCodingError) {
        guard stream.isComplete else { throw ContentCodingError(coding: coding, kind: .truncated) }
        try below?.finish()
    }
}
