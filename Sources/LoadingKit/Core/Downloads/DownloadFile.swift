import Foundation
import Glibc
import LoadingKitTransport

/// The file into which a download is written, with mode 0600, in the ``DownloadFolder``. Its functions may block.
final class DownloadFile: SpooledFile, @unchecked Sendable {  // one thread at a time: `DownloadSpool` ensures this
    private(set) var name = DownloadFolder.newName()
    private let folder: DownloadFolder
    private var writer = BodyFileWriter(-1)
    /// Whether resume data that the program may still have names the file.
    private var isNamed = false
    private(set) var count: Int64 = 0
    private(set) var path: String?

    private var descriptor: Int32 { writer.descriptor }

    init(in folder: DownloadFolder = .shared) { self.folder = folder }

    /// Opens a file that an earlier download left, and drops the bytes behind its first `count` bytes. Where the file
    /// no longer exists, or another download uses it, the download starts from the beginning.
    init(resuming name: String, count: Int64, in folder: DownloadFolder = .shared) throws {
        self.folder = folder
        guard let taken = try folder.take(name) else { return }
        (self.name, path, writer, isNamed) = (name, taken.path, BodyFileWriter(taken.descriptor), true)
        let size = SystemCalls.seek(descriptor, to: 0) < 0 ? 0 : fileSize
        self.count = min(max(count, 0), size)
        try truncate()
    }

    deinit {
        guard descriptor >= 0 else { return }
        writer.giveBackRoom(behind: count)
        SystemCalls.closeLocked(descriptor)
        // The download that was to continue has not started.
        if isNamed { folder.leave(name, size: count) }
    }

    func perform(_ operations: [SpoolOperation], expecting expected: Int64) throws -> Int64 {
        try create()
        var written: Int64 = 0
        for operation in operations {
            switch operation {
            case .startOver:
                count = 0
                try truncate()
            case .write(let data):
                let result = writer.write(data, at: count, expecting: expected) { count += Int64($0.count) }
                guard result >= 0 else { throw failure(.cannotWriteToFile, "written", result) }
                written += Int64(data.count)
            }
        }
        return written
    }

    /// All bytes are written. Creates the file where nothing was written.
    func close() throws {
        try create()
        writer.giveBackRoom(behind: count)
        if isNamed { try rename() }
        let result = closeDescriptor()
        guard result >= 0 else { throw failure(.cannotCloseFile, "closed", result) }
    }

    /// The program gets the file: resume data that it has used before must not name it.
    private func rename() throws {
        let new = DownloadFolder.newName()
        let (old, path) = (path ?? name, try folder.path(of: new))
        let result = SystemCalls.rename(old, path)
        guard result >= 0 else { throw failure(.cannotMoveFile, "renamed", result) }
        (name, self.path, isNamed) = (new, path, false)
    }

    /// Leaves the file unchanged, for resume data that names it.
    func leave() {
        if descriptor >= 0 {
            writer.giveBackRoom(behind: count)
            _ = closeDescriptor()
        }
        if path != nil { folder.leave(name, size: count) }
    }

    func remove() {
        if descriptor >= 0 { _ = closeDescriptor() }
        if let path { _ = SystemCalls.unlink(path) }
    }

    private func closeDescriptor() -> Int {
        let result = SystemCalls.closeLocked(descriptor)
        writer = BodyFileWriter(-1)
        return result
    }

    private func create() throws {
        guard descriptor < 0 else { return }
        let path = try self.path ?? folder.path(of: name)
        self.path = path
        let result = SystemCalls.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        guard let descriptor = Int32(exactly: result), descriptor >= 0 else {
            throw failure(.cannotCreateFile, "made", result)
        }
        writer = BodyFileWriter(descriptor)
        // Resume data may name the file before it is closed.
        _ = DownloadFolder.takeLock(descriptor)
    }

    private var fileSize: Int64 {
        var status = stat()
        guard SystemCalls.fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
        return Int64(status.st_size)
    }

    private func truncate() throws {
        let result = writer.truncate(to: count)
        guard result >= 0 else { throw failure(.cannotWriteToFile, "shortened", result) }
    }

    private func failure(_ code: URLError.Code, _ verb: String, _ result: Int) -> LoadFailure {
        DownloadFailure.make(code, "the download's file \(path ?? name) cannot be \(verb)", result)
    }
}
