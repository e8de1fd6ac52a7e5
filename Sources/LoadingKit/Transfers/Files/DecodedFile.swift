import Foundation
import Glibc
import LoadingKitCore
import LoadingKitTransport

/// Files that downloads are decoded to: a part is kept in its content's codings, of which a range is one (RFC 9110 §14). The
/// functions may block.
enum DecodedFile {
    /// Decodes a complete part, which stays as it is. False where the coding is not built in: then the part is the download.
    ///
    /// - Parameters:
    ///   - path: where the new file is made.
    ///   - ratio: by how much decoding may expand the content.
    static func make(at path: String, of part: String, _ coding: String, ratio: Int) throws -> Bool {
        _ = SystemCalls.unlink(path)
        let opened = SystemCalls.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        guard let descriptor = Int32(exactly: opened), descriptor >= 0 else {
            throw failure(.cannotCreateFile, path, "made", opened)
        }
        defer { SystemCalls.close(descriptor) }
        var isMade = false
        defer { if !isMade { _ = SystemCalls.unlink(path) } }
        var (writer, count) = (BodyFileWriter(descriptor), Int64(0))
        let isDecoded = try CodedDownload.decode(part, coding, ratio: ratio) { piece in
            let result = writer.write(piece, at: count, expecting: -1) { _ in }
            guard result >= 0 else { throw failure(.cannotWriteToFile, path, "written", result) }
            count += Int64(piece.count)
        }
        guard isDecoded else { return false }
        let result = SystemCalls.synchronize(descriptor)
        guard result >= 0 else { throw failure(.cannotWriteToFile, path, "put on the disk", result) }
        isMade = true
        return true
    }

    /// Puts the file in the part's place.
    static func replace(_ part: String, by path: String) throws {
        let result = SystemCalls.rename(path, part)
        guard result >= 0 else { throw failure(.cannotMoveFile, path, "moved to \(part)", result) }
    }

    private static func failure(_ code: URLError.Code, _ path: String, _ verb: String, _ result: Int) -> PartFailure {
        PartFailure(code, "the download's file \(path) cannot be \(verb)", result)
    }
}
