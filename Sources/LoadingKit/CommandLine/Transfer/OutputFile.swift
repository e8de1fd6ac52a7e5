import Foundation

/// The destination file of a body. It is created with the first bytes, or at the end of an empty body.
final class OutputFile: @unchecked Sendable {  // used on the transfers' queue, and after the last transfer
    /// The way in which the file is opened.
    struct Opening {
        /// The number of bytes that stay, and must be there; 0 if the file is written anew. Bytes of an earlier attempt are
        /// removed.
        var kept: Int64 = 0
        /// Whether missing folders are made.
        var makesFolders = false
        /// Whether a file that is there is not overwritten.
        var mustBeNew = false
        /// Whether a new file is for its user alone.
        var isPrivate = false
    }

    let path: String
    private let opening: Opening
    private var descriptor: Int32?

    init(_ path: String, _ opening: Opening = Opening()) {
        self.path = path
        self.opening = opening
    }

    deinit { if let descriptor { close(descriptor) } }

    var isOpen: Bool { descriptor != nil }

    func open() throws(ToolFailure) {
        _ = try openDescriptor()
    }

    func write(_ data: Data) throws(ToolFailure) {
        let descriptor = try openDescriptor()
        if let code = writeAll(data, to: descriptor) { throw .writing(path, code) }
    }

    private func openDescriptor() throws(ToolFailure) -> Int32 {
        if let descriptor { return descriptor }
        if opening.makesFolders { try makeFolders() }
        let how = opening.mustBeNew ? O_CREAT | O_EXCL : opening.kept > 0 ? 0 : O_CREAT | O_TRUNC
        // Without the bits of the umask.
        let mode: mode_t = opening.isPrivate ? 0o600 : 0o644
        let opened = Foundation.open(path, O_WRONLY | how | O_CLOEXEC, mode)
        guard opened >= 0 else { throw .writing(path, errno) }
        descriptor = opened
        guard opening.kept > 0 else { return opened }
        var status = stat()
        guard fstat(opened, &status) == 0 else { throw .writing(path, errno) }
        // The missing bytes would become zeros.
        guard Int64(status.st_size) >= opening.kept else {
            throw ToolFailure(.writeError, "\(path) was made shorter while the load that continues it began")
        }
        let end = off_t(opening.kept)
        guard ftruncate(opened, end) == 0, lseek(opened, end, SEEK_SET) >= 0 else { throw .writing(path, errno) }
        return opened
    }

    private func makeFolders() throws(ToolFailure) {
        let folder = (path as NSString).deletingLastPathComponent
        guard !folder.isEmpty else { return }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw ToolFailure(.writeError, "the folder \(folder) cannot be made: \(error.localizedDescription)")
        }
    }

    /// Some file systems report write errors only here.
    ///
    /// - Parameter date: the time of the last change that the file gets; nil for the present.
    func finish(changedAt date: Date? = nil) throws(ToolFailure) {
        guard let descriptor else { return }
        self.descriptor = nil
        if let date {
            let time = timespec(tv_sec: Int(min(max(date.timeIntervalSince1970, 0), 1e12)), tv_nsec: 0)
            // A file system that cannot store it has the body nevertheless.
            _ = futimens(descriptor, [time, time])
        }
        if close(descriptor) != 0, errno != EINTR { throw .writing(path, errno) }
    }
}

/// Writes all given bytes to a file descriptor, blocking. Returns nil, or the error's number.
func writeAll(_ bytes: some ContiguousBytes, to descriptor: Int32) -> Int32? {
    bytes.withUnsafeBytes { bytes in
        var rest = bytes
        while !rest.isEmpty {
            let count = write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            } else if errno == EAGAIN {
                waitUntilReady(descriptor, for: POLLOUT)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }
}

/// Waits for a descriptor that the process that started this process may have made non-blocking.
func waitUntilReady(_ descriptor: Int32, for events: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    poll(&entry, 1, -1)
}
