import Foundation
import LoadingKitContentCoding
import LoadingKitTransport

extension URLResponse {
    /// The value of `Content-Encoding`; nil where the content has no coding.
    package var contentCoding: String? { (self as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") }

    /// Whether its task gets the body without the content's codings.
    ///
    /// - Parameter keepsCodings: whether the request or its session keeps them.
    package func isDecoded(keepsCodings: Bool) -> Bool {
        guard let contentCoding else { return true }
        // The body of a coding that is not built in stays as it is.
        return !keepsCodings && ContentDecoder(contentEncoding: contentCoding) != nil
    }
}

/// Decodes a download that consists of ranges of the content in its content codings: byte ranges apply to the coded
/// content, not to the decoded content (RFC 9110 §14). Its functions may block.
package enum CodedDownload {
    private static let pieceSize = 256 << 10

    /// Decodes a file into a new file.
    ///
    /// - Parameters:
    ///   - coding: the value of `Content-Encoding`.
    ///   - ratio: the largest ratio by which decoding may expand the content.
    ///   - isNeeded: called before each piece is written; false ends the work with an error.
    /// - Returns: the location of the new file.
    static func decode(_ coded: URL, _ coding: String, ratio: Int, isNeeded: () -> Bool) throws -> URL {
        let file = DownloadFile()
        do {
            let isBuiltIn = try decode(coded.path, coding, ratio: ratio) { piece in
                guard isNeeded() else { throw CancellationError() }
                _ = try file.perform([.write(piece)], expecting: -1)
            }
            guard isBuiltIn else {
                throw LoadFailure(.cannotDecodeRawData, "the content coding \(coding) of the download is not built in")
            }
            try file.close()
        } catch {
            file.remove()
            throw error
        }
        return URL(fileURLWithPath: file.path ?? file.name)
    }

    /// Decodes a file, piece by piece. Returns false, and writes nothing, for a coding that is not built in.
    package static func decode(
        _ coded: String, _ coding: String, ratio: Int, _ write: (Data) throws -> Void
    ) throws -> Bool {
        var limits = DecompressionLimits()
        limits.ratio = ratio
        guard let decoder = ContentDecoder(contentEncoding: coding, limits: limits) else { return false }
        let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: coded))
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
                    try write(Data(buffer[..<count]))
                }
            }
        }
        try LoadFailure.decoding { () throws(ContentCodingError) in try decoder.finish() }
        return true
    }
}
