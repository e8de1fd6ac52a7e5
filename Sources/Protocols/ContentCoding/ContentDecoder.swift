@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Decodes a body's content codings while it is received, in constant memory (RFC 9110 §8.4).
///
/// The reader controls the decoder: each `decode` fills at most the given memory, so a body that expands without end
/// costs only the bytes that are read of it.
public final class ContentDecoder {
    /// The value of `Accept-Encoding`: all built-in codings.
    public static let acceptEncoding = ContentCoding.builtIn.map(\.rawValue).joined(by: ", ")

    /// The largest number of codings of one body. Servers have no reason to use more.
    private static let maximumCodings = 4

    /// The decoder of one coding. Its output waits in its buffer for the next layer. The last layer has no buffer, as
    /// it decodes into the reader's memory.
    private final class Layer {
        let coding: ContentCoding
        let stream: any CodingStream
        let buffer: UnsafeMutableRawBufferPointer
        var unread = 0..<0
        /// The number of bytes decoded so far.
        var produced = 0

        /// Nil for a coding that is not built in.
        init?(_ coding: ContentCoding, isLast: Bool) {
            guard let stream = CodingStreams.make(coding) else { return nil }
            self.coding = coding
            self.stream = stream
            buffer = .allocate(byteCount: isLast ? 0 : 16 * 1024, alignment: 1)
        }

        deinit { buffer.deallocate() }
    }

    /// The layers in the order of decoding. The first one gets the body's bytes.
    private let layers: [Layer]
    private let limits: DecompressionLimits
    /// The limit of each layer's expansion. The next block of coded bytes is read when all layers have given what is in those
    /// before.
    private var limit: ExpansionLimit

    /// - Parameter contentEncoding: the field's value. The result is nil if it names no coding that needs decoding, or
    ///   a coding that is not built in. The body then passes through undecoded.
    public init?(contentEncoding: String, limits: DecompressionLimits = DecompressionLimits()) {
        var codings: [ContentCoding] = []
        for token in contentEncoding.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            if token.lowercased() == "identity" { continue }
            guard let coding = ContentCoding(token: token) else { return nil }
            codings.append(coding)
        }
        guard !codings.isEmpty, codings.count <= Self.maximumCodings else { return nil }
        // The field lists the codings in the order of their application, so the last one is decoded first.
        layers = codings.indices.reversed().compactMap { Layer(codings[$0], isLast: $0 == 0) }
        self.limits = limits
        limit = ExpansionLimit(ratio: limits.ratio, minimumSize: limits.minimumSize)
        guard layers.count == codings.count else { return nil }
    }

    /// Decodes from `input`, whose position is advanced, into `output`.
    ///
    /// - Parameter output: room for at least one byte.
    /// - Returns: the number of bytes written to `output`; 0 if all of the input is used and more is needed.
    public func decode(
        _ input: UnsafeRawBufferPointer, position: inout Int, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int {
        try decode(layers.count - 1, input, &position, output)
    }

    private func decode(
        _ index: Int, _ input: UnsafeRawBufferPointer, _ position: inout Int, _ output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int {
        let layer = layers[index]
        var count = 0
        if index == 0 {
            count = try decode(layer, input, &position, output)
        } else {
            let source = layers[index - 1]
            var hasMore = true
            while count == 0 && hasMore {
                // Called even without unread bytes: this layer may have held back output for lack of room.
                count = try Self.decode(layer, from: source, into: output)
                if count == 0 { hasMore = try refill(source, index - 1, &position, input) }
            }
        }
        layer.produced += count
        // Each layer's output is checked, not only the final one: a layer whose output shrinks again in a later layer
        // also costs time.
        if !limit.allows(layer.produced) {
            throw ContentCodingError(coding: layer.coding, kind: .expandsTooFar(ratio: limits.ratio))
        }
        return count
    }

    /// Decodes the body's own bytes.
    private func decode(
        _ first: Layer, _ input: UnsafeRawBufferPointer, _ position: inout Int, _ output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int {
        while true {
            let part = UnsafeRawBufferPointer(rebasing: input.prefix(position + limit.room))
            let count = try advance(first, part, &position, output)
            guard count == 0, position < input.count, limit.advance() else { return count }
        }
    }

    private func advance(
        _ first: Layer, _ part: UnsafeRawBufferPointer, _ position: inout Int, _ output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int {
        let start = position
        // Counted even if decoding fails: a corrupt body is not an empty one.
        defer { limit.consume(position - start) }
        return try first.stream.decode(part, &position, into: output)
    }

    private static func decode(
        _ layer: Layer, from source: Layer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int {
        let piece = UnsafeRawBufferPointer(rebasing: source.buffer[source.unread])
        var used = 0
        defer { source.unread = source.unread.dropFirst(used) }
        return try layer.stream.decode(piece, &used, into: output)
    }

    /// Returns false if more of the body is needed.
    private func refill(
        _ source: Layer, _ index: Int, _ position: inout Int, _ input: UnsafeRawBufferPointer
    ) throws(ContentCodingError) -> Bool {
        source.unread = 0..<(try decode(index, input, &position, source.buffer))
        return !source.unread.isEmpty
    }

    /// The body has ended. Throws if its codings are incomplete. A body without bytes is complete, whatever its coding:
    /// responses without a body often keep the field.
    public func finish() throws(ContentCodingError) {
        guard limit.consumed > 0 else { return }
        for layer in layers where !layer.stream.isComplete {
            throw ContentCodingError(coding: layer.coding, kind: .truncated)
        }
    }
}

/// The limits of a body's expansion.
public struct DecompressionLimits: Sendable {
    /// The number of decoded bytes for each coded byte of the body, for each coding if there are several. The coded
    /// bytes are rounded up to a multiple of 16 KiB. The default is 200, far more than a body of text or JSON needs.
    /// deflate itself reaches 1,032 for repeated identical bytes, br and zstd many thousands.
    public var ratio = 200

    /// The number of decoded bytes above which the ratio applies. The default is 32 MiB, so that small content may
    /// expand without limit.
    public var minimumSize = 32 << 20

    /// The default limits.
    public init() {}
}
