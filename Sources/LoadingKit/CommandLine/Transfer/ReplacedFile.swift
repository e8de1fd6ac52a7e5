import Foundation

/// A file that is replaced as a whole. It has its former content until the new one is complete, also where this process is
/// killed, the disk is full, or several processes write it at once.
enum ReplacedFile {
    /// Writes a file, which keeps its group and mode. A new one can be read by its user alone. What is no file of this
    /// user's own, such as a pipe or a device, is written in place, and so is a file with several names: all of them
    /// have the new content.
    static func write(_ bytes: Data, to path: String) throws(ToolFailure) {
        var status = stat()
        let exists = stat(path, &status) == 0
        let isOwn = status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_nlink == 1
        let isReplaced = exists ? isOwn : !isLink(path)
        guard isReplaced, !namesDescriptor(path) else { return try writeInPlace(bytes, to: path) }
        if exists, faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 { throw .writing(path, errno) }
        guard let target = exists ? resolved(path) : path else { return try writeInPlace(bytes, to: path) }
        // It is made with mode 0600 (mkstemp(3)).
        var temporary = Array("\(target).XXXXXX.tmp".utf8CString)
        let descriptor = mkstemps(&temporary, 4)
        guard descriptor >= 0 else {
            let code = errno
            // The folder may have files that can be written, and yet take no new ones.
            guard [EACCES, EPERM, ENAMETOOLONG, EROFS].contains(code) else { throw .writing(path, code) }
            return try writeInPlace(bytes, to: path)
        }
        var failure = writeAll(bytes, to: descriptor)
        // The mode comes last: a change of the group clears bits of it.
        if failure == nil, exists,
            fchown(descriptor, uid_t.max, status.st_gid) != 0 || fchmod(descriptor, status.st_mode & 0o7777) != 0
        {
            failure = errno
        }
        // Some file systems report write errors only here.
        if close(descriptor) != 0, errno != EINTR { failure = failure ?? errno }
        if failure == nil, rename(temporary, target) != 0 { failure = errno }
        guard let code = failure else { return }
        unlink(temporary)
        // The file cannot be replaced: it is a mount point (EBUSY), this user may not give a file to its group (EPERM),
        // or the group has no number in this user namespace (EINVAL).
        guard [EBUSY, EPERM, EINVAL].contains(code) else { throw .writing(path, code) }
        try writeInPlace(bytes, to: path)
    }

    private static func writeInPlace(_ bytes: Data, to path: String) throws(ToolFailure) {
        let file = OutputFile(path, OutputFile.Opening(isPrivate: true))
        try file.write(bytes)
        try file.finish()
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Whether the path itself, and not a link to it, names an open file, which its other users go on using:
    /// `/dev/stdout`, `/proc/self/fd/3`.
    private static func namesDescriptor(_ path: String) -> Bool {
        ["/dev/std", "/dev/fd/", "/proc/"].contains { path.hasPrefix($0) }
    }

    /// The path without symbolic links, which stay; nil if the file has no path, as one that was unlinked.
    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
