import LoadingKitContentCoding
import LoadingKitCore
import LoadingKitHTTP1

/// Decodes a body piece by piece, as it is asked for pieces, and keeps what its receiver has no room for. It calls nobody.
///
/// A class, as what its user does with a piece may end the exchange that holds it.
final class BodyDecoding {
    /// Coded bytes that were received and not yet decoded, as the receiver had no room.
    private struct Held {
        let bytes: [UInt8]
        var position = 0
    }

    /// Whether the bytes that it takes are those of the content in its codings.
    private(set) var isOfContentAlone = false
    private var decoder: ContentDecoder
    private var held: Held?
    /// Where decoded bytes are put; shared by the session's exchanges, which use it in turn.
    private let buffer: UnsafeMutableRawBufferPointer
    /// What undoes the codings of the content, where this undoes those of the transfer.
    private var content: BodyDecoding?
    /// How much of what is in the buffer is for that, and how much it has taken.
    private var (decoded, taken) = (0, 0)
    /// Is of what this gives. Where there is one, the buffer is this object's own.
    private var check: DigestBodyCheck?

    /// Nil for a coding that is not built in: the body passes through as it came.
    ///
    /// - Parameter ratio: how far the body may expand.
    init?(_ contentEncoding: String, ratio: Int, buffer: UnsafeMutableRawBufferPointer) {
        var limits = DecompressionLimits()
        limits.ratio = ratio
        guard let decoder = ContentDecoder(contentEncoding: contentEncoding, limits: limits) else { return nil }
        self.decoder = decoder
        self.buffer = buffer
    }

    /// Whether the receiver has not had all that came, or it is not known whether it has.
    var hasPending: Bool { held != nil }

    /// Whether the check of the body gets its bytes here.
    var feedsCheck: Bool { check != nil }

    /// What undoes the codings of a response's content, and those of its transfer, which were applied last.
    ///
    /// - Parameter keepsCodings: whether those of the content are left alone.
    /// - Parameter hasBody: of a response without one the content's codings count all the same: they are what the length of
    ///   a response to HEAD is of.
    /// - Parameter check: covers the content in its codings, without those of the transfer (RFC 7616 §3.4.3, RFC 9110 §6.4).
    /// - Throws: `cannotDecodeRawData` where those of the transfer cannot be undone.
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
            return try make(
                transfer, before: content.flatMap { BodyDecoding($0, ratio: ratio, buffer: buffer) }, ratio: ratio,
                check)
        }
        if let content, let both = BodyDecoding("\(content),\(transfer)", ratio: ratio, buffer: buffer) { return both }
        guard let decoding = BodyDecoding(transfer, ratio: ratio, buffer: buffer) else {
            throw .tooManyCodings(transfer)
        }
        return decoding
    }

    /// In two steps, with the check between them. Each step needs a buffer of its own.
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

    /// The next piece of what `bytes`, from `position` on, are when they are decoded; nil where it takes more bytes to say.
    /// The piece is valid until the next call.
    func next(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws -> UnsafeRawBufferPointer? {
        guard let content else { return try nextOfOwn(bytes, &position) }
        while true {
            // Until the content's codings are undone, what this has decoded stays in its buffer.
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

    /// Keeps bytes for ``nextOfHeld()``: the receiver has no room for what they are.
    func hold(_ bytes: Slice<UnsafeRawBufferPointer>) { held = Held(bytes: Array(bytes)) }

    /// The next piece of what is kept; nil where nothing of it is left.
    func nextOfHeld() throws -> UnsafeRawBufferPointer? {
        guard let bytes = held?.bytes, var position = held?.position else { return nil }
        let piece = try bytes.withUnsafeBytes { try next($0, &position) }
        if piece == nil { held = nil } else { held?.position = position }
        return piece
    }

    func finish() throws {
        try LoadFailure.decoding { () throws(ContentCodingError) in try decoder.finish() }
        try content?.finish()
    }
}

extension LoadFailure {
    fileprivate static func tooManyCodings(_ codings: String) -> LoadFailure {
        LoadFailure(.cannotDecodeRawData, "the response has too many transfer codings: \(codings)")
    }
}
