import LoadingKitContentCoding
import LoadingKitLoopbackServer

extension ContentCoding {
    /// A whole body in this coding. Tests of all codings use it, so that a new coding is in them.
    package func encode(_ bytes: [UInt8]) throws -> [UInt8] {
        switch self {
        case .gzip: try Gzip.compress(bytes)
        case .deflate: try Gzip.compress(bytes, format: .zlib)
        case .brotli: BrotliEncoder.compress(bytes)
        case .zstd: ZstdEncoder.compress(bytes)
        }
    }
}
