import LoadingKitContentCoding
import LoadingKitCore

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
