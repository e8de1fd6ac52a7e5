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
        var reader = try FilePartReader(self)
        while let piece = try reader.read(upTo: Self.pieceSize) { digest.update(piece) }
        return try Digest.hex(digest)
    }

    /// A request's body, read while it is sent.
    var stream: InputStream {
        ReadingStream {
            var reader = try FilePartReader(self)
            return { buffer in
                guard let piece = try reader.read(upTo: buffer.count) else { return 0 }
                return piece.copyBytes(to: buffer)
            }
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

/// Reads a part of a file. Blocks.
struct FilePartReader {
    private let handle: FileHandle
    private let part: FilePart
    private var rest: Int

    init(_ part: FilePart) throws {
        guard let handle = FileHandle(forReadingAtPath: part.path), part.start >= 0,
            (try? handle.seek(toOffset: UInt64(part.start))) != nil
        else { throw S3UploadError.unreadableFile(path: part.path) }
        self.handle = handle
        self.part = part
        rest = part.length
    }

    /// The next bytes; nil at the end of the part. A file that ends earlier has been truncated.
    mutating func read(upTo count: Int) throws -> Data? {
        guard rest > 0 else { return nil }
        guard let piece = try handle.read(upToCount: min(count, rest)), !piece.isEmpty else {
            let end = part.start + Int64(part.length)
            throw S3UploadError.fileChanged(path: part.path, expected: end, found: end - Int64(rest))
        }
        rest -= piece.count
        return piece
    }
}
