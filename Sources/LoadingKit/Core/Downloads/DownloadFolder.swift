import Foundation
import Glibc
import LoadingKitPrimitives
import LoadingKitTransport

/// The private folder in which downloads are put together: `LoadingKit-<user>` in the temporary folder, of mode 0700, so
/// that a download that broke can be resumed by another process of the same user.
///
/// Each process has a folder of its own in it, which it keeps locked as long as it runs. So others can distinguish what is in use
/// from what a process that has ended has left; a process identifier would mean nothing in another container.
///
/// Its functions may block.
package final class DownloadFolder: Sendable {
    package static let shared = DownloadFolder(NSTemporaryDirectory() + "LoadingKit-\(getuid())")

    private static let prefix = "CFNetworkDownload_"
    private static let suffix = ".tmp"

    /// What is kept for resume data that may be used: by processes that have ended together, and by this one.
    package struct Limits {
        /// Of what processes that have ended have left, in seconds.
        let age: TimeInterval
        let bytes: Int64
        let files: Int

        package init(age: TimeInterval = 24 * 60 * 60, bytes: Int64 = 8 << 30, files: Int = 1000) {
            self.age = age
            self.bytes = bytes
            self.files = files
        }
    }

    /// This process's folder, and the descriptor that keeps it locked.
    private struct Own {
        let path: String
        let descriptor: Int32
    }

    private struct State {
        var own: Own?
        /// What resume data of this process names, and no download uses: the oldest first.
        var left: [(name: String, size: Int64)] = []
        /// Whether what others have left was looked through, or is going to be.
        var hasSwept: Bool
    }

    private let path: String
    private let limits: Limits
    private let state: Guarded<State>

    /// - Parameter sweeps: whether it sweeps by itself, when it is first used.
    package init(_ path: String, _ limits: Limits = Limits(), sweeps: Bool = true) {
        self.path = path
        self.limits = limits
        state = Guarded(State(hasSwept: !sweeps))
    }

    deinit { if let own = state.withLock({ $0.own }) { SystemCalls.close(own.descriptor) } }

    /// A name that no file has.
    package static func newName() -> String { "\(prefix)\(UUID().uuidString)\(suffix)" }

    /// Whether the name is one of those that `newName` gives: others are not to be touched.
    static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
    }

    /// The path of a file in this process's folder, which is made where there is none.
    package func path(of name: String) throws -> String {
        defer { sweepOnce() }
        return try "\(ownFolder())/\(name)"
    }

    // MARK: What is left to be resumed

    /// Resume data names a file that no download uses any more.
    package func leave(_ name: String, size: Int64) {
        let removed = state.withLock { state -> [String] in
            state.left.append((name, size))
            var bytes = state.left.reduce(0) { $0 + $1.size }
            var count = 0
            while count < state.left.count - 1, bytes > limits.bytes || state.left.count - count > limits.files {
                bytes -= state.left[count].size
                count += 1
            }
            defer { state.left.removeFirst(count) }
            return state.left.prefix(count).map(\.name)
        }
        guard !removed.isEmpty, let own = try? ownFolder() else { return }
        for name in removed { _ = SystemCalls.unlink("\(own)/\(name)") }
    }

    /// Opens a file that was left, by whichever process, which is this process's from then on; nil where there is none, or
    /// where a download uses it.
    package func take(_ name: String) throws -> (path: String, descriptor: Int32)? {
        // Not before: it may be old enough to be swept.
        defer { sweepOnce() }
        let own = try ownFolder()
        let target = "\(own)/\(name)"
        state.withLock { $0.left.removeAll { $0.name == name } }
        for folder in [own, path] + folders {
            let source = "\(folder)/\(name)"
            let descriptor = SystemCalls.open(source, O_RDWR | O_NOFOLLOW)
            guard let descriptor = Int32(exactly: descriptor), descriptor >= 0 else { continue }
            // Another process may have it by now.
            if Self.takeLock(descriptor), source == target || SystemCalls.rename(source, target) == 0 {
                return (target, descriptor)
            }
            SystemCalls.close(descriptor)
            return nil
        }
        return nil
    }

    /// Takes the lock; false where another process has it. Where the file system has no locks it is taken.
    static func takeLock(_ descriptor: Int32) -> Bool {
        SystemCalls.lock(descriptor, LOCK_EX | LOCK_NB) != -Int(EWOULDBLOCK)
    }

    // MARK: Sweeping

    private func sweepOnce() {
        let isFirst = state.withLock { state in
            defer { state.hasSwept = true }
            return !state.hasSwept
        }
        if isFirst { BlockingPool.shared.run { self.sweep() } }
    }

    /// Removes what processes that have ended have left: what is too old, and the oldest of what is too much. Several processes
    /// may do so at the same time.
    func sweep(_ now: Date = Date()) {
        var files = leftFiles(in: path)
        var gone = files.filter { now.timeIntervalSince($0.changed) > limits.age }
        for folder in folders {
            let descriptor = SystemCalls.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            guard let descriptor = Int32(exactly: descriptor), descriptor >= 0 else { continue }
            defer { SystemCalls.close(descriptor) }
            // Locked: its process runs, or another sweeps it.
            guard SystemCalls.lock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
            let found = leftFiles(in: folder)
            let old = found.filter { now.timeIntervalSince($0.changed) > limits.age }
            for file in old { _ = SystemCalls.unlink(file.path) }
            // While it is locked: a process that has just made it sees that it is gone. One that holds anything stays.
            _ = SystemCalls.removeDirectory(folder)
            gone += old
            files += found
        }
        let paths = Set(gone.map(\.path))
        let kept = files.filter { !paths.contains($0.path) }.sorted { $0.changed > $1.changed }
        var (bytes, count) = (Int64(0), 0)
        for file in kept {
            bytes += file.size
            count += 1
            if bytes > limits.bytes || count > limits.files { gone.append(file) }
        }
        for file in gone { _ = SystemCalls.unlink(file.path) }
    }

    private struct LeftFile {
        let path: String
        let size: Int64
        let changed: Date
    }

    private func leftFiles(in folder: String) -> [LeftFile] {
        names(in: folder).filter(Self.isName).compactMap { name in
            var status = stat()
            let path = "\(folder)/\(name)"
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return LeftFile(
                path: path, size: Int64(status.st_size),
                changed: Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec)))
        }
    }

    /// Those of other processes.
    private var folders: [String] {
        let own = state.withLock { $0.own?.path }
        return names(in: path).filter { UUID(uuidString: $0) != nil }.map { "\(path)/\($0)" }.filter { $0 != own }
    }

    private func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    // MARK: The folders

    private func ownFolder() throws -> String {
        try state.withLock { state in
            // A program that tidies the temporary folder may have removed it.
            if let own = state.own, Self.isThere(own.descriptor) { return own.path }
            if let gone = state.own.take() { SystemCalls.close(gone.descriptor) }
            let own = try makeOwnFolder()
            state.own = own
            return own.path
        }
    }

    private static func isThere(_ descriptor: Int32) -> Bool {
        var status = stat()
        return SystemCalls.fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    private func makeOwnFolder() throws -> Own {
        let made = SystemCalls.makeDirectory(path)
        guard made == 0 || made == -Int(EEXIST) else {
            throw DownloadFailure.make(.cannotCreateFile, "the folder \(path) cannot be made", made)
        }
        // Any user who may write to the temporary folder could have made it.
        guard Self.isPrivate(path) else {
            let text = "the folder \(path), in which downloads are put together, belongs to another user or is open to"
            throw LoadFailure(.cannotCreateFile, "\(text) others: remove it, or set TMPDIR")
        }
        while true {
            let own = "\(path)/\(UUID().uuidString)"
            let made = SystemCalls.makeDirectory(own)
            guard made == 0 else {
                throw DownloadFailure.make(.cannotCreateFile, "the folder \(own) cannot be made", made)
            }
            let opened = SystemCalls.open(own, O_RDONLY | O_DIRECTORY)
            if opened == -Int(ENOENT) { continue }
            guard let descriptor = Int32(exactly: opened), descriptor >= 0 else {
                throw DownloadFailure.make(.cannotCreateFile, "the folder \(own) cannot be opened", opened)
            }
            // A process that sweeps may have taken it for one that is left.
            if Self.takeLock(descriptor), Self.isThere(descriptor) { return Own(path: own, descriptor: descriptor) }
            SystemCalls.close(descriptor)
        }
    }

    private static func isPrivate(_ folder: String) -> Bool {
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return false }
        return status.st_uid == getuid() && status.st_mode & 0o077 == 0
    }
}

/// Failures of the file that a download goes to.
package enum DownloadFailure {
    /// - Parameter result: of the system call.
    package static func make(_ code: URLError.Code, _ text: String, _ result: Int) -> LoadFailure {
        let errno = Int32(clamping: -result)
        let reason = SystemCalls.text(ofError: errno)
        switch errno {
        case ENOSPC: return LoadFailure(code, "\(text): the disk is full (\(reason))")
        case EDQUOT: return LoadFailure(code, "\(text): the user's quota is used up (\(reason))")
        case EFBIG: return LoadFailure(code, "\(text): it is larger than a file may be (\(reason))")
        case EACCES, EPERM, EROFS: return LoadFailure(code, "\(text): that is not permitted (\(reason))")
        case _: return LoadFailure(code, "\(text): \(reason)")
        }
    }
}
