import Foundation
import LoadingKitContentCoding
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

/// Decodes a body piece by piece, on request, and keeps the bytes for which its receiver has no room. It is a class,
/// because its user may end the exchange that holds it while it processes a piece.
final class BodyDecoding {
    /// Whether the bytes to decode are the content in its content codings, without a transfer coding.
    private(set) var isOfContentAlone = false
    private var decoder: ContentDecoder
    private var held: (bytes: [UInt8], position: Int)?
    /// The session's exchanges share it and use it in turn.
    private let buffer: UnsafeMutableRawBufferPointer
    /// Decodes the content codings, if this object decodes the transfer codings.
    private var content: BodyDecoding?
    /// The number of bytes in the buffer for `content`, and the number that it has taken.
    private var (decoded, taken) = (0, 0)
    /// Checks the bytes that this object decodes. With a check, this object owns the buffer.
    private var check: DigestBodyCheck?

    /// Nil for a coding that is not built in. The body then passes through undecoded.
    init?(_ contentEncoding: String, ratio: Int, buffer: UnsafeMutableRawBufferPointer) {
        var limits = DecompressionLimits()
        limits.ratio = ratio
        guard let decoder = ContentDecoder(contentEncoding: contentEncoding, limits: limits) else { return nil }
        self.decoder = decoder
        self.buffer = buffer
    }

    var hasPending: Bool { held != nil }
    var feedsCheck: Bool { check != nil }

    /// The decoder of a response's content codings, and of its transfer codings, which were applied last.
    ///
    /// - Parameter keepsCodings: whether the content codings are left in place.
    /// - Parameter hasBody: whether the response has a body. The content codings count without a body, too: the length
    ///   in a response to HEAD is the length in these codings.
    /// - Parameter check: covers the content in its content codings, without the transfer codings (RFC 7616 §3.4.3,
    ///   RFC 9110 §6.4).
    /// - Throws: `cannotDecodeRawData` if the transfer codings cannot be decoded.
    static func make(
        for head: ResponseHead, hasBody: Bool, keepsCodings: Bool, ratio: Int, buffer: UnsafeMutableRawBufferPointer,
        check: DigestBodyCheck?
    ) throws(LoadFailure) -> BodyDecoding? {
        let content = keepsCodings ? nil : head.fields[.contentEncoding]
        let codings = hasBody ? try TransferCodings.read(head.fields) : []
        guard !codings.isEmpty else {
            let decoding = content.flatMap { BodyDecoding($0, ratio: ratio, buffer: buffer) }
            decoding?.isOfContentAlone = true
            return decoding
        }
        let transfer = codings.joined(separator: ",")
        if let check {
            let content = content.flatMap { BodyDecoding($0, ratio: ratio, buffer: buffer) }
            return try make(transfer, before: content, ratio: ratio, check)
        }
        if let content, let both = BodyDecoding("\(content),\(transfer)", ratio: ratio, buffer: buffer) { return both }
        guard let decoding = BodyDecoding(transfer, ratio: ratio, buffer: buffer) else {
            throw .tooManyCodings(transfer)
        }
        return decoding
    }

    /// Decodes in two steps, each with a buffer of its own, and the check between them.
    private static func make(
        _ transfer: String, before content: BodyDecoding?, ratio: Int, _ check: DigestBodyCheck
    ) throws(LoadFailure) -> BodyDecoding {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 1)
        guard let decoding = BodyDecoding(transfer, ratio: ratio, buffer: buffer) else {
            buffer.deallocate()
            throw .tooManyCodings(transfer)
        }
        decoding.content = content
        decoding.check = check
        return decoding
    }

    deinit { if check != nil { buffer.deallocate() } }

    /// Decodes `bytes` from `position` on, and returns the next decoded piece; nil if more bytes are needed for it. The
    /// piece is valid until the next call.
    func next(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws -> UnsafeRawBufferPointer? {
        guard let content else { return try nextOfOwn(bytes, &position) }
        while true {
            // The output of the transfer codings stays in the buffer until the content codings are decoded.
            if let piece = try content.next(UnsafeRawBufferPointer(rebasing: buffer[..<decoded]), &taken) {
                return piece
            }
            (decoded, taken) = (0, 0)
            guard let piece = try nextOfOwn(bytes, &position) else { return nil }
            decoded = piece.count
        }
    }

    private func nextOfOwn(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws -> UnsafeRawBufferPointer? {
        let count = try LoadFailure.decoding { () throws(ContentCodingError) in
            try decoder.decode(bytes, position: &position, into: buffer)
        }
        if count == 0 { return nil }
        let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        check?.update(piece)
        return piece
    }

    /// Keeps coded bytes, as the receiver has no room for their decoded form.
    func hold(_ bytes: Slice<UnsafeRawBufferPointer>) { held = (Array(bytes), 0) }

    /// The next decoded piece of the bytes that are kept; nil if none is left.
    func nextOfHeld() throws -> UnsafeRawBufferPointer? {
        guard let (bytes, start) = held else { return nil }
        var position = start
        let piece = try bytes.withUnsafeBytes { try next($0, &position) }
        held = piece == nil ? nil : (bytes, position)
        return piece
    }

    func finish() throws {
        try LoadFailure.decoding { () throws(ContentCodingError) in try decoder.finish() }
        try content?.finish()
    }
}

/// The transfer codings of a response except `chunked`, which its connection decodes (RFC 9112 §6.1, §7).
enum TransferCodings {
    /// The codings in the order of their application. Empty for nearly every response.
    ///
    /// - Throws: `cannotDecodeRawData` for an unsupported coding, and for `chunked` before another coding: the received
    ///   bytes are not the content.
    static func read(_ fields: HTTPFields) throws(LoadFailure) -> [String] {
        guard fields.contains(.transferEncoding) else { return [] }
        let names = fields.values(of: .transferEncoding).flatMap { $0.lowercased().split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        var codings: [String] = []
        for (index, name) in names.enumerated() {
            switch name {
            case "gzip", "x-gzip", "deflate": codings.append(name)
            // `identity` is RFC 2616's name for no coding.
            case "identity": break
            case "chunked" where index == names.count - 1: break
            case "chunked":
                throw LoadFailure(
                    .cannotDecodeRawData, "the response applies another transfer coding after chunked")
            case _: throw LoadFailure(.cannotDecodeRawData, "the response's transfer coding \(name) cannot be decoded")
            }
        }
        return codings
    }
}

extension LoadFailure {
    fileprivate static func tooManyCodings(_ codings: String) -> LoadFailure {
        LoadFailure(.cannotDecodeRawData, "the response has too many transfer codings: \(codings)")
    }
}
