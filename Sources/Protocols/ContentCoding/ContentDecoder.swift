/// Decodes a body's content codings while it is received, in constant memory (RFC 9110 §8.4).
///
/// Its reader drives it: each `decode` fills at most the memory that it is given, so a body that expands without end
/// costs only as much as is read of it.
public final class ContentDecoder {
    /// What requests offer: all that is built in.
    public static let acceptEncoding = ContentCoding.builtIn.map(\.rawValue).joined(separator: ", ")

    /// Codings one upon the other; more than these no server has a reason for.
    private static let maximumCodings = 4

    /// One coding, undone. What it decodes waits in its buffer for the layer after it; the last layer has none, as it
    /// decodes into its reader's memory.
    private final class Layer {
        let coding: ContentCoding
        let stream: any CodingStream
        let buffer: UnsafeMutableRawBufferPointer
        var unread = 0..<0
        /// Decoded bytes up to now.
        var produced = 0

        /// Nil for a coding that is not built in.
        init?(_ coding: ContentCoding, isLast: Bool) {
            guard let stream = coding.makeStream() else { return nil }
            self.coding = coding
            self.stream = stream
            buffer = .allocate(byteCount: isLast ? 0 : 16 * 1024, alignment: 1)
        }

        deinit { buffer.deallocate() }
    }

    /// In the order of undoing: the first takes the body's bytes.
    private let layers: [Layer]
    private let limits: DecompressionLimits
    /// Coded bytes of the body up to now.
    private var consumed = 0

    /// - Parameter contentEncoding: the field's value. Nil where it names nothing that needs decoding, or a coding that
    ///   is not built in: then the body passes through as it came.
    public init?(contentEncoding: String, limits: DecompressionLimits = DecompressionLimits()) {
        var codings: [ContentCoding] = []
        for token in contentEncoding.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
            if token.lowercased() == "identity" { continue }
            guard let coding = ContentCoding(token: token) else { return nil }
            codings.append(coding)
        }
        guard !codings.isEmpty, codings.count <= Self.maximumCodings else { return nil }
        // The field names them in the order of their application, so the last is undone first.
        layers = codings.indices.reversed().compactMap { Layer(codings[$0], isLast: $0 == 0) }
        self.limits = limits
        guard layers.count == codings.count else { return nil }
    }

    /// Decodes from `input`, whose position moves, into `output`.
    ///
    /// - Parameter output: room for one byte or more.
    /// - Returns: how many bytes were put there; 0 when all of the input is used, and more is needed.
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
            let start = position
            // Counted even where it fails: a body that was begun is not complete for being corrupt.
            defer { consumed += position - start }
            count = try layer.stream.decode(input, &position, into: output)
        } else {
            let source = layers[index - 1]
            var hasMore = true
            while count == 0 && hasMore {
                // Even with nothing unread: this layer may have had more than there was room for.
                count = try Self.decode(layer, from: source, into: output)
                if count == 0 { hasMore = try refill(source, index - 1, &position, input) }
            }
        }
        layer.produced += count
        // Each layer's, and not only what comes out in the end: a layer that others swallow costs time all the same.
        if layer.produced > limits.minimumSize && layer.produced / max(1, limits.ratio) > consumed {
            throw ContentCodingError(coding: layer.coding, kind: .expandsTooFar(ratio: limits.ratio))
        }
        return count
    }

    private static func decode(
        _ layer: Layer, from source: Layer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int {
        let piece = UnsafeRawBufferPointer(rebasing: source.buffer[source.unread])
        var used = 0
        defer { source.unread = source.unread.dropFirst(used) }
        return try layer.stream.decode(piece, &used, into: output)
    }

    /// False where more of the body is needed.
    private func refill(
        _ source: Layer, _ index: Int, _ position: inout Int, _ input: UnsafeRawBufferPointer
    ) throws(ContentCodingError) -> Bool {
        source.unread = 0..<(try decode(index, input, &position, source.buffer))
        return !source.unread.isEmpty
    }

    /// The body has ended: throws when its codings have not. A body without a byte is complete, whatever its coding: the
    /// answers that have none often keep the field.
    public func finish() throws(ContentCodingError) {
        guard consumed > 0 else { return }
        for layer in layers where !layer.stream.isComplete {
            throw ContentCodingError(coding: layer.coding, kind: .truncated)
        }
    }
}

/// Why a body could not be decoded.
public struct ContentCodingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    public enum Kind: Error, Equatable {
        /// The bytes are not of the coding that the response names.
        case corrupt(String)
        /// The body ended before its coding did.
        case truncated
        /// The body expands further than allowed.
        case expandsTooFar(ratio: Int)
        /// The system has no memory for the decoder.
        case outOfMemory
    }

    /// The coding that was being undone.
    public let coding: ContentCoding
    /// What is wrong.
    public let kind: Kind

    /// The error in plain words.
    public var description: String {
        switch kind {
        case .corrupt(let reason): "the body is not valid \(coding.rawValue): \(reason)"
        case .truncated: "the body ended in the middle of its \(coding.rawValue) coding"
        case .expandsTooFar(let ratio): "the \(coding.rawValue) body expands to more than \(ratio) times its size"
        case .outOfMemory: "there is no memory to decode the \(coding.rawValue) body"
        }
    }
}

/// How far a body may expand.
public struct DecompressionLimits: Sendable {
    /// Decoded bytes for each coded one of the body: what each coding gives, where there are several. Default 200, which a
    /// body of text or JSON does not come near; deflate itself reaches 1,032 on bytes that are all the same, br and zstd many thousands.
    public var ratio = 200

    /// Decoded bytes before the ratio counts. Default 32 MiB, so that small content may expand without limit.
    public var minimumSize = 32 << 20

    /// The defaults.
    public init() {}
}

/// One coding of a body, undone while it is received. It takes no memory before it is given a byte.
protocol CodingStream: AnyObject {
    /// Whether the body may end here.
    var isComplete: Bool { get }

    /// Decodes from `input`, whose position moves, into `output`; gives how many bytes were put there. None: all of the
    /// input is used.
    ///
    /// An error is thrown again by each call that follows it.
    func decode(
        _ input: UnsafeRawBufferPointer, _ position: inout Int, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentCodingError) -> Int
}
