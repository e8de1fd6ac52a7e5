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

    /// A descriptor of its own, at the file's beginning, which the caller closes; negative where it cannot be opened.
    func open() -> Int { SystemCalls.open(descriptor.map { "/proc/self/fd/\($0.number)" } ?? path, O_RDONLY) }

    /// What it is now. Throws where it is gone, or is no regular file.
    func state() throws -> UploadFileState {
        var status = stat()
        let result = descriptor.map { SystemCalls.fstat($0.number, &status) } ?? SystemCalls.stat(path, &status)
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
        return now.body(descriptor.map { "/proc/self/fd/\($0.number)" } ?? path)
    }
}

extension UploadFileState {
    /// Throws where the file is not as an upload was begun with it.
    func check(_ before: BodyFile) throws {
        let now = body(before.url.path)
        guard now.size == before.size, now.modified == before.modified else {
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
