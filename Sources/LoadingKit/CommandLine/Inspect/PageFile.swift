import Foundation

/// The file for a page. A new one can be read by its user alone, as recordings have secrets.
struct PageFile {
    let path: String
    /// The open file; nil for one that is opened when it is written.
    private let descriptor: Int32?

    /// - Parameter recording: the recording, which the page must not replace.
    init(path: String, unlike recording: RecordingFile) throws(ToolFailure) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw ToolFailure(.usage, "the page's file has no name") }
        if let identity = recording.identity, identity == FileIdentity(path) {
            throw ToolFailure(.usage, "\(path) is the recording itself: --output names another file")
        }
        self.path = path
        descriptor = nil
    }

    private init(temporary path: String, _ descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Makes a new file, which has mode 0600 (mkstemp(3)).
    static func temporary(in folder: String = NSTemporaryDirectory()) throws(ToolFailure) -> PageFile {
        let suffix = ".html"
        let place = folder.hasSuffix("/") ? folder : "\(folder)/"
        var template = Array("\(place)loadkit-XXXXXX\(suffix)".utf8CString)
        let descriptor = mkstemps(&template, Int32(suffix.utf8.count))
        guard descriptor >= 0 else { throw .writing("a file in \(folder)", errno) }
        let path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return PageFile(temporary: path, descriptor)
    }

    func remove() { unlink(path) }

    func write(_ bytes: [UInt8]) throws(ToolFailure) {
        let opened = descriptor ?? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw .writing(path, errno) }
        let code = writeAll(bytes, to: opened)
        // Some file systems report write errors only here.
        let closing = close(opened) == 0 || errno == EINTR ? nil : errno
        if let code = code ?? closing { throw .writing(path, code) }
    }
}
