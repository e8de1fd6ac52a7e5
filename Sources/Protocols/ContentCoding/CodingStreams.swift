/// Makes the decoders of the codings.
enum CodingStreams {
    /// Makes a decoder for one body; nil if the coding is not built in.
    static func make(_ coding: ContentCoding) -> (any CodingStream)? {
        switch coding {
        case .gzip, .deflate: return InflateStream(coding)
        case .brotli:
            #if Brotli
                return BrotliStream()
            #else
                return nil
            #endif
        case .zstd:
            #if Zstd
                return ZstdStream()
            #else
                return nil
            #endif
        }
    }
}

extension ContentCoding {
    /// The codings that can be decoded, in the order in which browsers offer them.
    public static let builtIn = allCases.filter { CodingStreams.make($0) != nil }
}
