import Dispatch
import Foundation
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

/// A part of a file as a request's body, read while it is sent.
final class FilePartStream: InputStream {
    private let part: FilePart
    private var reader: FilePartReader?
    private var status = Stream.Status.notOpen
    private var failure: (any Error)?

    init(_ part: FilePart) {
        self.part = part
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { status }

    override var streamError: (any Error)? { failure }

    override var hasBytesAvailable: Bool { status == .open }

    override func open() {
        guard status == .notOpen else { return }
        do {
            reader = try FilePartReader(part)
            status = .open
        } catch {
            failure = error
            status = .error
        }
    }

    override func close() {
        reader = nil
        status = .closed
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard status == .open, len > 0 else { return status == .error ? -1 : 0 }
        do {
            guard let piece = try reader?.read(upTo: len) else {
                status = .atEnd
                return 0
            }
            piece.copyBytes(to: buffer, count: piece.count)
            return piece.count
        } catch {
            failure = error
            status = .error
            return -1
        }
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    /// The stream has no events: a reader waits.
    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
