import Foundation

/// A recording that is read from a file, or from standard input.
struct RecordingFile {
    /// The largest size in bytes. A browser's strings have at most 512 MiB.
    static let maximumSize = 256 << 20

    /// The file's name, for readers.
    let name: String
    let text: HARText
    /// The file; nil for standard input.
    let identity: FileIdentity?

    /// - Parameter path: a path as the user types it, or `-`.
    init(_ path: String, maximumSize: Int = Self.maximumSize) throws(ToolFailure) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw ToolFailure(.usage, "the recording has no name") }
        let isStandardInput = path == "-"
        let place = isStandardInput ? "standard input" : path
        let descriptor = isStandardInput ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(place, errno) }
        defer { close(descriptor) }
        let bytes = try Self.read(descriptor, place, maximumSize)
        do {
            text = try HARText(bytes)
        } catch {
            throw ToolFailure(.readError, "\(place): \(error.reason)")
        }
        name = (place as NSString).lastPathComponent
        identity = isStandardInput ? nil : FileIdentity(path)
    }

    private static func read(_ descriptor: Int32, _ place: String, _ maximumSize: Int) throws(ToolFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = readWaiting(descriptor, &piece, piece.count)
            if count == 0 { return bytes }
            if count < 0 { throw failure(place, errno) }
            bytes += piece[..<count]
            guard bytes.count <= maximumSize else {
                throw ToolFailure(.tooLarge, "\(place): the recording has more than \(maximumSize) bytes")
            }
        }
    }

    private static func failure(_ place: String, _ code: Int32) -> ToolFailure {
        ToolFailure(.couldNotReadFile, "\(place) cannot be read: \(String(cString: strerror(code)))")
    }
}

/// The identity of a file, under any of its names.
struct FileIdentity: Hashable {
    private let device: UInt64
    private let number: UInt64

    /// Nil where there is no file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
