import Foundation
import Glibc
import LoadingKitContentCoding
import LoadingKitTransport

/// Decodes a download that was put together from parts of its content in its codings: a range of bytes is one of those, not
/// of what they are decoded to (RFC 9110 §14). Its functions may block.
package enum CodedDownload {
    private static let pieceSize = 256 << 10

    /// Makes a file of what the first one is decoded to, which is deleted.
    ///
    /// - Parameters:
    ///   - coding: the value of `Content-Encoding`.
    ///   - ratio: by how much decoding may expand the content.
    /// - Returns: where the new file is.
    static func decode(_ coded: URL, _ coding: String, ratio: Int) throws -> URL {
        guard let decoder = makeDecoder(coding, ratio) else {
            throw LoadFailure(.cannotDecodeRawData, "the content coding \(coding) of the download is not built in")
        }
        let file = DownloadFile()
        do {
            try decode(coded.path, by: decoder) { _ = try file.perform([.write($0)], expecting: -1) }
            try file.close()
        } catch {
            file.remove()
            throw error
        }
        _ = SystemCalls.unlink(coded.path)
        return URL(fileURLWithPath: file.path ?? file.name)
    }

    /// Puts what a file is decoded to in its place. A coding that is not built in stays.
    ///
    /// - Parameter path: where the new file is made, in the same file system.
    package static func decode(_ coded: String, _ coding: String, ratio: Int, by path: String) throws {
        guard let decoder = makeDecoder(coding, ratio) else { return }
        _ = SystemCalls.unlink(path)
        let opened = SystemCalls.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        guard let descriptor = Int32(exactly: opened), descriptor >= 0 else {
            throw failure(.cannotCreateFile, path, "made", opened)
        }
        defer { SystemCalls.close(descriptor) }
        do {
            var (writer, count) = (BodyFileWriter(descriptor), Int64(0))
            try decode(coded, by: decoder) { piece in
                let result = writer.write(piece, at: count, expecting: -1) { _ in }
                guard result >= 0 else { throw failure(.cannotWriteToFile, path, "written", result) }
                count += Int64(piece.count)
            }
            let synchronized = SystemCalls.synchronize(descriptor)
            guard synchronized >= 0 else { throw failure(.cannotWriteToFile, path, "put on the disk", synchronized) }
            let renamed = SystemCalls.rename(path, coded)
            guard renamed >= 0 else { throw failure(.cannotMoveFile, path, "renamed", renamed) }
        } catch {
            _ = SystemCalls.unlink(path)
            throw error
        }
    }

    private static func makeDecoder(_ coding: String, _ ratio: Int) -> ContentDecoder? {
        var limits = DecompressionLimits()
        limits.ratio = ratio
        return ContentDecoder(contentEncoding: coding, limits: limits)
    }

    private static func decode(_ coded: String, by decoder: ContentDecoder, _ write: (Data) throws -> Void) throws {
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
    }

    private static func failure(_ code: URLError.Code, _ path: String, _ verb: String, _ result: Int) -> LoadFailure {
        DownloadFailure.make(code, "the download's file \(path) cannot be \(verb)", result)
    }
}
