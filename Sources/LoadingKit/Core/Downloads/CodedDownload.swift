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

extension ResumeData {
    /// The file's content codings that are decoded when it is complete; nil where there are none.
    ///
    /// - Parameter keepsCodings: whether the request or its session keeps them.
    func decodedCoding(keepsCodings: Bool) -> String? {
        // The body of a coding that is not built in stays as it is.
        guard let coding, !keepsCodings, ContentDecoder(contentEncoding: coding) != nil else { return nil }
        return coding
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
        let source = Int32(clamping: try check(SystemCalls.open(coded.path, O_RDONLY), coded))
        defer { SystemCalls.close(source) }
        let file = DownloadFile()
        do {
            let isDecoded = try decode(coding, ratio: ratio) {
                try check(SystemCalls.read(source, $0), coded)
            } to: { piece in
                guard isNeeded() else { throw CancellationError() }
                _ = try file.perform([.write(piece)], expecting: -1)
            }
            guard isDecoded else {
                throw LoadFailure(.cannotDecodeRawData, "the content coding \(coding) of the download is not built in")
            }
            try file.close()
        } catch {
            file.remove()
            throw error
        }
        return URL(fileURLWithPath: file.path ?? file.name)
    }

    /// The result of a system call that has not failed.
    private static func check(_ result: Int, _ coded: URL) throws -> Int {
        guard result >= 0 else {
            throw DownloadFailure.make(.cannotOpenFile, "the file \(coded.path) cannot be read", result)
        }
        return result
    }

    /// Decodes content, piece by piece. Returns false, and reads nothing, for a coding that is not built in.
    ///
    /// - Parameter read: returns the number of bytes that it has read; 0 at the end.
    package static func decode(
        _ coding: String, ratio: Int, _ read: (UnsafeMutableRawBufferPointer) throws -> Int,
        to write: (Data) throws -> Void
    ) throws -> Bool {
        var limits = DecompressionLimits()
        limits.ratio = ratio
        guard let decoder = ContentDecoder(contentEncoding: coding, limits: limits) else { return false }
        let input = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 1)
        defer { input.deallocate() }
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 1)
        defer { output.deallocate() }
        while case let length = try read(input), length > 0 {
            let piece = UnsafeRawBufferPointer(rebasing: input[..<length])
            var position = 0
            while true {
                let count = try LoadFailure.decoding { () throws(ContentCodingError) in
                    try decoder.decode(piece, position: &position, into: output)
                }
                if count == 0 { break }
                try write(Data(output[..<count]))
            }
        }
        try LoadFailure.decoding { () throws(ContentCodingError) in try decoder.finish() }
        return true
    }
}
