import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The file of an upload. It is opened by the descriptor that the program has handed over, as long as the process
/// lives; otherwise by its path. Its functions may block.
struct UploadFile: Sendable {
    private let path: String
    private let descriptor: OwnedDescriptor?

    init(path: String, _ descriptor: OwnedDescriptor? = nil) {
        self.path = path
        self.descriptor = descriptor
    }

    /// A larger file is copied only where the file system lets both files share the content. In bytes.
    static let largestCopy: Int64 = 16 << 20

    /// The path by which the file is opened.
    private var currentPath: String { descriptor.map { "/proc/self/fd/\($0.number)" } ?? path }

    /// The file's current state. Throws where the file no longer exists, or is no regular file.
    func state() throws -> UploadFileState {
        var status = stat()
        let result = SystemCalls.stat(currentPath, &status)
        guard result == 0 else {
            let code: URLError.Code = result == -Int(ENOENT) ? .fileDoesNotExist : .noPermissionsToReadFile
            throw DownloadFailure.make(code, "the file to send, \(path), cannot be read", result)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw LoadFailure(.cannotOpenFile, "\(path), which is to be sent, is not a regular file")
        }
        return UploadFileState(status)
    }

    /// The file to send. Throws where the file no longer exists, or has changed since the upload was begun.
    func checked(_ before: UploadFileState?) throws -> BodyFile {
        let now = try state()
        if let before, let change = now.change(since: before) { throw UploadFileState.didChange(path, ": \(change)") }
        return now.body(currentPath)
    }

    /// Copies the file, with the same size and date: the program may write to its file, or remove it, once the upload
    /// is begun. Nil where no copy can be made, or the file is written to meanwhile: then the file itself is sent, and
    /// must not change.
    ///
    /// - Parameter limit: The greatest size of a file that is copied byte by byte; below 0 for no copy at all.
    func copy(to path: String, upTo limit: Int64) -> UploadFile? {
        guard limit >= 0, let before = try? state() else { return nil }
        let copy = UploadFile(path: path)
        guard (try? NewFile.copy(currentPath, to: path, upTo: limit)) == true, (try? state()) == before,
            let made = try? copy.state(), made.body(path) == before.body(path)
        else {
            _ = SystemCalls.unlink(path)
            return nil
        }
        return copy
    }
}

extension UploadFileState {
    /// Throws where the file has changed since the upload was begun with it.
    func check(_ before: BodyFile) throws {
        if body(before.url.path) != before { throw Self.didChange(before.url.path) }
    }

    fileprivate static func didChange(_ path: String, _ change: String = "") -> LoadFailure {
        let text = "the file to send, \(path), was changed since the upload was begun\(change)"
        return LoadFailure(.requestBodyStreamExhausted, text)
    }

    /// The file in this state. A load detects when the file has another state.
    func body(_ path: String) -> BodyFile {
        let (seconds, overflow) = modified.multipliedReportingOverflow(by: 1_000_000_000)
        let time = overflow ? modified : seconds &+ modifiedNanoseconds
        return BodyFile(URL(fileURLWithPath: path), size: size, modified: time)
    }

    /// A description of the difference, for a person; nil where there is none.
    fileprivate func change(since before: UploadFileState) -> String? {
        if size != before.size { return "it has \(size) bytes, and had \(before.size)" }
        if (device, number) != (before.device, before.number) { return "another file has its name" }
        if (modified, modifiedNanoseconds) != (before.modified, before.modifiedNanoseconds) {
            return "it was written to"
        }
        return nil
    }
}
