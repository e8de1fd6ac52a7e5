import Glibc

/// A file's identity, size and times of change. A file with another version may have other contents.
struct FileVersion: Hashable {
    private let device: UInt
    private let number: UInt
    private let size: Int
    private let changed: [Int]

    init(_ status: stat) {
        device = UInt(status.st_dev)
        number = UInt(status.st_ino)
        size = Int(status.st_size)
        changed = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }

    /// The version of the file to which a path and its symbolic links lead; nil if there is none.
    init?(path: String) {
        var status = stat()
        guard SystemCalls.stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
