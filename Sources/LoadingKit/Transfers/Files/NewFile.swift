import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Creates files that are either complete and synchronized to the disk, or do not exist. The functions may block.
enum NewFile {
    private static let pieceSize = 1 << 20

    /// Creates a file of mode 0600. An existing file at the path is removed.
    ///
    /// - Parameter fill: Writes the file. False where the file is not needed.
    static func make(_ path: String, _ fill: (Int32) throws -> Bool) throws -> Bool {
        _ = SystemCalls.unlink(path)
        let opened = SystemCalls.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        let descriptor = try PartFailure.check(opened, .cannotCreateFile, "the file \(path) cannot be made")
        var isMade = false
        defer {
            SystemCalls.close(descriptor)
            if !isMade { _ = SystemCalls.unlink(path) }
        }
        guard try fill(descriptor) else { return false }
        try PartFailure.check(
            SystemCalls.synchronize(descriptor), .cannotWriteToFile, "the file \(path) cannot be put on the disk")
        isMade = true
        return true
    }

    /// Copies a file with its date. The copy shares the content where the file system can.
    ///
    /// - Parameter limit: The greatest size of a file that is copied byte by byte; a larger file is not copied.
    static func copy(_ source: String, to path: String, upTo limit: Int64 = .max) throws -> Bool {
        let text = "the file \(source) cannot be read"
        let descriptor = try PartFailure.check(SystemCalls.open(source, O_RDONLY), .cannotOpenFile, text)
        defer { SystemCalls.close(descriptor) }
        var status = stat()
        try PartFailure.check(SystemCalls.fstat(descriptor, &status), .cannotOpenFile, text)
        return try make(path) { target in
            if SystemCalls.clone(descriptor, to: target) < 0 {
                guard Int64(status.st_size) <= limit else { return false }
                var (writer, count, buffer) = (BodyFileWriter(target), Int64(0), Data(count: pieceSize))
                while case let read = buffer.withUnsafeMutableBytes({ SystemCalls.read(descriptor, $0) }), read != 0 {
                    try PartFailure.check(read, .cannotOpenFile, text)
                    let written = writer.write(buffer.prefix(read), at: count, expecting: -1) { _ in }
                    try PartFailure.check(written, .cannotWriteToFile, "the file \(path) cannot be written")
                    count += Int64(read)
                }
            }
            let time = status.st_mtim
            _ = SystemCalls.setModificationTime(
                target, seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
            return true
        }
    }

    /// Creates a file with the decoded content of a complete part. The part has the encoded content, to which ranges
    /// apply (RFC 9110 §14). False where the content coding is not built in: then the part is the download.
    ///
    /// - Parameter ratio: The ratio by which decoding may expand the content.
    static func decode(_ part: String, to path: String, _ coding: String, ratio: Int) throws -> Bool {
        try make(path) { descriptor in
            let text = "the file \(part) cannot be read"
            let source = try PartFailure.check(SystemCalls.open(part, O_RDONLY), .cannotOpenFile, text)
            defer { SystemCalls.close(source) }
            var (writer, count) = (BodyFileWriter(descriptor), Int64(0))
            return try CodedDownload.decode(coding, ratio: ratio) { buffer in
                Int(try PartFailure.check(SystemCalls.read(source, buffer), .cannotOpenFile, text))
            } to: { piece in
                let written = writer.write(piece, at: count, expecting: -1) { _ in }
                try PartFailure.check(written, .cannotWriteToFile, "the file \(path) cannot be written")
                count += Int64(piece.count)
            }
        }
    }

    /// Moves a file, also to another file system. An existing file at the target is replaced.
    static func move(_ source: String, to target: String) throws {
        let moved = SystemCalls.rename(source, target)
        guard moved == -Int(EXDEV) else {
            try PartFailure.check(moved, .cannotMoveFile, "the file \(source) cannot be moved to \(target)")
            return
        }
        _ = try copy(source, to: target)
        _ = SystemCalls.unlink(source)
    }

    /// Synchronizes the name of a file that was moved or linked.
    static func synchronizeName(of path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        try PartFailure.check(
            SystemCalls.synchronizeFolder(folder), .cannotWriteToFile, "the folder \(folder) cannot be put on the disk")
    }
}

/// A failure of an operation on a transfer's file.
struct PartFailure: Error {
    let failure: LoadFailure
    /// Whether disk space, the user's quota or the descriptors are used up, which may be temporary.
    let isLackOfRoom: Bool

    /// - Parameter result: The result of the system call.
    init(_ code: URLError.Code, _ text: String, _ result: Int) {
        failure = DownloadFailure.make(code, text, result)
        isLackOfRoom = [ENOSPC, EDQUOT, EMFILE, ENFILE].contains(Int32(clamping: -result))
    }

    /// Returns the result of a system call, such as a descriptor. Throws where the call has failed.
    @discardableResult
    static func check(_ result: Int, _ code: URLError.Code, _ text: @autoclosure () -> String) throws -> Int32 {
        guard result >= 0 else { throw PartFailure(code, text(), result) }
        return Int32(clamping: result)
    }
}
