import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The file that an upload sends: by the descriptor that the program has handed over, as long as the process lives; else by
/// its path. Its functions may block.
struct UploadFile: Sendable {
    private let path: String
    private let descriptor: OwnedDescriptor?

    init(path: String, _ descriptor: OwnedDescriptor? = nil) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Large files are copied only where the file system has both share the content, in bytes.
    static let largestCopy: Int64 = 16 << 20

    /// By which it is opened.
    private var currentPath: String { descriptor.map { "/proc/self/fd/\($0.number)" } ?? path }

    /// What it is now. Throws where it is gone, or is no regular file.
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

    /// What to send. Throws where it is gone, or is not as it was when the upload was begun.
    func checked(_ before: UploadFileState?) throws -> BodyFile {
        let now = try state()
        if let before, let change = now.change(since: before) {
            let text = "the file to send, \(path), was changed since the upload was begun: \(change)"
            throw LoadFailure(.requestBodyStreamExhausted, text)
        }
        return now.body(currentPath)
    }

    /// Makes a copy, of the same size and date: the program may write to its file, or remove it, once the upload is begun. Nil
    /// where none can be made, or the file is written to meanwhile: then the file itself is sent, and must stay as it is.
    ///
    /// - Parameter limit: How large it may be where it has to be copied byte by byte; below 0 for no copy at all.
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
    /// Throws where the file is not as an upload was begun with it.
    func check(_ before: BodyFile) throws {
        guard body(before.url.path) == before else {
            let text = "the file to send, \(before.url.path), was changed since the upload was begun"
            throw LoadFailure(.requestBodyStreamExhausted, text)
        }
    }

    /// The file in this state, of which a load notices that it has another one.
    func body(_ path: String) -> BodyFile {
        let (seconds, overflow) = modified.multipliedReportingOverflow(by: 1_000_000_000)
        let time = overflow ? modified : seconds &+ modifiedNanoseconds
        return BodyFile(URL(fileURLWithPath: path), size: size, modified: time)
    }

    /// What is different, for a person; nil where nothing is.
    fileprivate func change(since before: UploadFileState) -> String? {
        if size != before.size { return "it has \(size) bytes, and had \(before.size)" }
        if (device, number) != (before.device, before.number) { return "another file has its name" }
        if (modified, modifiedNanoseconds) != (before.modified, before.modifiedNanoseconds) {
            return "it was written to"
        }
        return nil
    }
}
