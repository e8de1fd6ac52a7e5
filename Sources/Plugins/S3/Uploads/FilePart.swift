import Dispatch
import Foundation
@_spi(LoadingKitPlugins) import LoadingKitForms
@_spi(LoadingKitPlugins) import LoadingKitTransport

/// A part of a file: a number of bytes from an offset on.
struct FilePart: Sendable {
    static let pieceSize = 256 << 10

    let path: String
    let start: Int64
    let length: Int

    /// The part's SHA-256 in hexadecimal digits. The file is read on a separate thread.
    func digest() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try readDigest() }) }
        }
    }

    private func readDigest() throws -> String {
        var digest = SHA256()
        let read = try makeReader()
        while let piece = try read(Self.pieceSize) { digest.update(piece) }
        return Digest.hex(digest)
    }

    /// A request's body, read while it is sent.
    var stream: InputStream {
        ReadingStream {
            let read = try makeReader()
            return { buffer in try read(buffer.count)?.copyBytes(to: buffer) ?? 0 }
        }
    }

    /// Returns a function for the next bytes, at most this number; nil at the end of the part. It blocks.
    private func makeReader() throws -> (Int) throws -> Data? {
        guard let handle = FileHandle(forReadingAtPath: path), start >= 0,
            (try? handle.seek(toOffset: UInt64(start))) != nil
        else { throw S3UploadError.unreadableFile(path: path) }
        var rest = length
        return { count in
            guard rest > 0 else { return nil }
            guard let piece = try handle.read(upToCount: min(count, rest)), !piece.isEmpty else {
                // The file has been truncated.
                let end = start + Int64(length)
                throw S3UploadError.fileChanged(path: path, expected: end, found: end - Int64(rest))
            }
            rest -= piece.count
            return piece
        }
    }

    /// A regular file's size in bytes.
    static func size(of file: URL) throws -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.resolvingSymlinksInPath().path)
        guard file.isFileURL, let attributes, attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? NSNumber
        else { throw S3UploadError.unreadableFile(path: file.path) }
        return size.int64Value
    }
}
