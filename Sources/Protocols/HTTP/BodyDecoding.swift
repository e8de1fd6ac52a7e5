import LoadingKitContentCoding
import LoadingKitCore
import LoadingKitHTTP1

/// Decodes a body piece by piece, and keeps what its receiver has no room for.
///
/// A class, as what it hands over may end the exchange that holds it.
final class BodyDecoding {
    private var decoder: ContentDecoder
    /// Coded bytes that were received and not yet decoded, as the receiver had no room.
    private var pending: [UInt8] = []
    private(set) var hasPending = false
    /// Where decoded bytes are put; shared by the session's exchanges, which use it in turn.
    private let buffer: UnsafeMutableRawBufferPointer

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

    /// What undoes the codings of a response's content, and those of its transfer, which were applied last.
    ///
    /// - Parameter hasBody: of a response without one the content's codings count all the same: they are what the length of
    ///   a response to HEAD is of.
    /// - Throws: `cannotDecodeRawData` where those of the transfer cannot be undone.
    static func make(
        for head: ResponseHead, hasBody: Bool, ratio: Int, buffer: UnsafeMutableRawBufferPointer
    ) throws(LoadFailure) -> BodyDecoding? {
        let content = head.fields[.contentEncoding]
        let codings = hasBody ? try TransferCodings.read(head.fields) : []
        guard !codings.isEmpty else { return content.flatMap { BodyDecoding($0, ratio: ratio, buffer: buffer) } }
        let transfer = codings.joined(separator: ",")
        if let content, let both = BodyDecoding("\(content),\(transfer)", ratio: ratio, buffer: buffer) { return both }
        guard let decoding = BodyDecoding(transfer, ratio: ratio, buffer: buffer) else {
            throw LoadFailure(.cannotDecodeRawData, "the response has too many transfer codings: \(transfer)")
        }
        return decoding
    }

    func decode(
        _ bytes: UnsafeRawBufferPointer, _ receive: (UnsafeRawBufferPointer) -> Flow
    ) throws -> Flow {
        var position = 0
        while true {
            let count = try inPlainWords { () throws(ContentCodingError) in
                try decoder.decode(bytes, position: &position, into: buffer)
            }
            if count == 0 { return .more }
            if receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) == .wait {
                pending = Array(bytes[position...])
                hasPending = true
                return .wait
            }
        }
    }

    func decodePending(_ receive: (UnsafeRawBufferPointer) -> Flow) throws -> Flow {
        let bytes = pending
        pending = []
        hasPending = false
        return try bytes.withUnsafeBytes { try decode($0, receive) }
    }

    func finish() throws { try inPlainWords { () throws(ContentCodingError) in try decoder.finish() } }

    private func inPlainWords<Value>(_ body: () throws(ContentCodingError) -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            let text =
                switch error.kind {
                case .expandsTooFar:
                    "\(error), more than configuration.maximumDecompressionRatio allows: raise that where the server is trusted"
                case .corrupt, .truncated, .outOfMemory: error.description
                }
            throw LoadFailure(.cannotDecodeRawData, text)
        }
    }
}
