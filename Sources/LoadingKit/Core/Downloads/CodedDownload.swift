import Foundation
import LoadingKitContentCoding
import LoadingKitTransport

/// Decodes a download that was put together from parts of its content in its codings: a range of bytes is one of those, not
/// of what they are decoded to (RFC 9110 §14). Its functions may block.
enum CodedDownload {
    private static let pieceSize = 256 << 10

    /// Makes a file of what the first one is decoded to, which is deleted.
    ///
    /// - Parameters:
    ///   - coding: the value of `Content-Encoding`.
    ///   - ratio: by how much decoding may expand the content.
    /// - Returns: where the new file is.
    static func decode(_ coded: URL, _ coding: String, ratio: Int) throws -> URL {
        var limits = DecompressionLimits()
        limits.ratio = ratio
        guard let decoder = ContentDecoder(contentEncoding: coding, limits: limits) else {
            throw LoadFailure(.cannotDecodeRawData, "the content coding \(coding) of the download is not built in")
        }
        let file = DownloadFile()
        do {
            try decode(coded, by: decoder, to: file)
            try file.close()
        } catch {
            file.remove()
            throw error
        }
        _ = SystemCalls.unlink(coded.path)
        return URL(fileURLWithPath: file.path ?? file.name)
    }

    private static func decode(_ coded: URL, by decoder: ContentDecoder, to file: DownloadFile) throws {
        let source = try FileHandle(forReadingFrom: coded)
        defer { try? source.close() }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 1)
        defer { buffer.deallocate() }
        while let piece = try source.read(upToCount: pieceSize), !piece.isEmpty {
            try piece.withUnsafeBytes { bytes in
                var position = 0
                while true {
                    let count = try LoadFailure.decoding { () throws(ContentCodingError) in
                        try decoder.decode(bytes, position: &position, into: buffer)
                    }
                    if count == 0 { return }
                    _ = try file.perform([.write(Data(buffer[..<count]))], expecting: -1)
                }
            }
        }
        try LoadFailure.decoding { () throws(ContentCodingError) in try decoder.finish() }
    }
}
