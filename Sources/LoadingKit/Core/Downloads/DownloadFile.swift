import Foundation
import Glibc
import LoadingKitTransport

/// The file that a download is put together in: of mode 0600, in the ``DownloadFolder``. Its functions may block.
final class DownloadFile: SpooledFile, @unchecked Sendable {  // one thread at a time: `DownloadSpool` sees to that
    private(set) var name = DownloadFolder.newName()
    private let folder: DownloadFolder
    private var writer = BodyFileWriter(-1)
    /// Whether resume data names it that the program may still have.
    private var isNamed = false
    private(set) var count: Int64 = 0
    private(set) var path: String?

    private var descriptor: Int32 { writer.descriptor }

    init(in folder: DownloadFolder = .shared) { self.folder = folder }

    /// One that an earlier download has left; what is behind its first `count` bytes is dropped. Where there is none any
    /// more, or another download uses it, the download begins anew.
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
        SystemCalls.close(descriptor)
        // The download that was to go on has not begun.
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

    /// All is written; makes the file where nothing was.
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

    /// Leaves the file as it is, for resume data that names it.
    func leave() {
        guard descriptor >= 0 else { return }
        writer.giveBackRoom(behind: count)
        _ = closeDescriptor()
        folder.leave(name, size: count)
    }

    func remove() {
        if descriptor >= 0 { _ = closeDescriptor() }
        if let path { _ = SystemCalls.unlink(path) }
    }

    private func closeDescriptor() -> Int {
        let result = SystemCalls.close(descriptor)
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
        // Resume data may name it before it is closed.
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
