import Foundation
import Glibc
import LoadingKitPrimitives
import LoadingKitTransport

/// The private folder for partial downloads: `LoadingKit-<user>` in the temporary folder, with mode 0700. Another
/// process of the same user can resume an interrupted download from it. A process that becomes another user goes on in
/// that user's folder.
///
/// Each process has its own subfolder, which it keeps locked as long as it runs. Other processes can thus distinguish
/// files in use from the files of a process that has ended. A process identifier would have no meaning in another
/// container.
///
/// Its functions may block.
package final class DownloadFolder: Sendable {
    package static let shared: DownloadFolder = {
        let temporary = NSTemporaryDirectory()
        return DownloadFolder({ "\(temporary)LoadingKit-\($0)" })
    }()

    private static let prefix = "CFNetworkDownload_"
    private static let suffix = ".tmp"

    /// The limits for files that resume data may name: for all ended processes together, and for this process.
    package struct Limits {
        /// The largest age of an ended process's files, in seconds.
        package let age: TimeInterval
        let bytes: Int64
        let files: Int

        package init(age: TimeInterval = 24 * 60 * 60, bytes: Int64 = 8 << 30, files: Int = 1000) {
            self.age = age
            self.bytes = bytes
            self.files = files
        }
    }

    private struct Own {
        let path: String
        let descriptor: Int32
    }

    private struct State {
        /// This process's folders, by the effective users that it had.
        var own: [UInt32: Own] = [:]
        /// The files that resume data of this process names, and that no download uses: the oldest first.
        var left: [(name: String, size: Int64)] = []
        /// Whether the files of other processes were checked, or the check is scheduled.
        var hasSwept: Bool
    }

    private let pathOfUser: @Sendable (UInt32) -> String
    private let effectiveUser: @Sendable () -> UInt32
    private let limits: Limits
    private let state: Guarded<State>

    package convenience init(_ path: String, _ limits: Limits = Limits(), sweeps: Bool = true) {
        self.init({ _ in path }, limits, sweeps: sweeps)
    }

    /// - Parameters:
    ///   - pathOfUser: the path of a user's folder.
    ///   - sweeps: whether the folder sweeps by itself, at its first use.
    ///   - effectiveUser: the process's effective user, which may change.
    package init(
        _ pathOfUser: @escaping @Sendable (UInt32) -> String, _ limits: Limits = Limits(), sweeps: Bool = true,
        effectiveUser: @escaping @Sendable () -> UInt32 = { geteuid() }
    ) {
        (self.pathOfUser, self.effectiveUser) = (pathOfUser, effectiveUser)
        self.limits = limits
        state = Guarded(State(hasSwept: !sweeps))
    }

    deinit { for own in state.withLock({ Array($0.own.values) }) { SystemCalls.closeLocked(own.descriptor) } }

    private var path: String { pathOfUser(effectiveUser()) }

    package static func newName() -> String { "\(prefix)\(UUID().uuidString)\(suffix)" }

    /// Whether the name has the form of `newName`: other files must not be touched.
    package static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
    }

    /// The path of a file in this process's folder, which is created where it is missing.
    package func path(of name: String) throws -> String {
        defer { sweepOnce() }
        return try "\(ownFolder())/\(name)"
    }

    // MARK: Files for resumption

    /// Resume data names a file that no download uses any longer.
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

    /// Opens a file that any process left, and moves it to this process's folder; nil where there is none, or where a
    /// download uses it.
    package func take(_ name: String) throws -> (path: String, descriptor: Int32)? {
        // Not earlier: the file may be old enough to be swept.
        defer { sweepOnce() }
        let own = try ownFolder()
        let target = "\(own)/\(name)"
        state.withLock { $0.left.removeAll { $0.name == name } }
        for folder in [own, path] + folders {
            let source = "\(folder)/\(name)"
            let descriptor = SystemCalls.open(source, O_RDWR | O_NOFOLLOW)
            guard let descriptor = Int32(exactly: descriptor), descriptor >= 0 else { continue }
            // Another process may have taken it meanwhile.
            if Self.takeLock(descriptor), source == target || SystemCalls.rename(source, target) == 0 {
                return (target, descriptor)
            }
            SystemCalls.closeLocked(descriptor)
            return nil
        }
        return nil
    }

    /// Takes the lock; false where another process has it. Where the file system has no locks, it counts as taken.
    package static func takeLock(_ descriptor: Int32) -> Bool {
        SystemCalls.lock(descriptor, LOCK_EX | LOCK_NB) != -Int(EWOULDBLOCK)
    }

    // MARK: Sweeping

    private func sweepOnce() {
        let hasSwept = state.withLock { exchange(&$0.hasSwept, for: true) }
        if !hasSwept { BlockingPool.shared.run { self.sweep() } }
    }

    /// Removes files of ended processes: those that are too old, and the oldest ones beyond the size limit. Several
    /// processes may do so at the same time.
    func sweep(_ now: Date = Date()) {
        var files = leftFiles(in: path, now)
        var gone = files.filter { now.timeIntervalSince($0.changed) > limits.age }
        for folder in folders {
            let descriptor = SystemCalls.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            guard let descriptor = Int32(exactly: descriptor), descriptor >= 0 else { continue }
            defer { SystemCalls.closeLocked(descriptor) }
            // Locked: its process is running, or another process sweeps the folder.
            guard SystemCalls.lock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
            let found = leftFiles(in: folder, now)
            let old = found.filter { now.timeIntervalSince($0.changed) > limits.age }
            for file in old { _ = SystemCalls.unlink(file.path) }
            // The folder is removed while it is locked: a process that has just created it sees that it is gone. A
            // folder that is not empty stays.
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

    /// The age of a file that was written before the clock was set is unknown. It is counted from now on.
    private func leftFiles(in folder: String, _ now: Date) -> [LeftFile] {
        names(in: folder).filter(Self.isName).compactMap { name in
            var status = stat()
            let path = "\(folder)/\(name)"
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            var changed = Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec))
            if changed.isOfUnsetClock, !now.isOfUnsetClock {
                Self.setChanged(path, now)
                changed = now
            }
            return LeftFile(path: path, size: Int64(status.st_size), changed: changed)
        }
    }

    package static func setChanged(_ path: String, _ date: Date) {
        let descriptor = SystemCalls.open(path, O_RDONLY | O_NOFOLLOW)
        guard let descriptor = Int32(exactly: descriptor), descriptor >= 0 else { return }
        let seconds = Int64(date.timeIntervalSince1970)
        _ = SystemCalls.setModificationTime(descriptor, seconds: seconds, nanoseconds: 0)
        SystemCalls.close(descriptor)
    }

    private var folders: [String] {
        let user = effectiveUser()
        let (path, own) = (pathOfUser(user), state.withLock { $0.own[user]?.path })
        return names(in: path).filter { UUID(uuidString: $0) != nil }.map { "\(path)/\($0)" }.filter { $0 != own }
    }

    private func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    // MARK: The folders

    private func ownFolder() throws -> String {
        let user = effectiveUser()
        return try state.withLock { state in
            // A program that cleans the temporary folder may have removed it.
            if let own = state.own[user], Self.isThere(own.descriptor) { return own.path }
            if let gone = state.own.removeValue(forKey: user) { SystemCalls.closeLocked(gone.descriptor) }
            let own = try Self.makeOwnFolder(in: pathOfUser(user))
            state.own[user] = own
            return own.path
        }
    }

    private static func isThere(_ descriptor: Int32) -> Bool {
        var status = stat()
        return SystemCalls.fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    private static func makeOwnFolder(in path: String) throws -> Own {
        // Any user with write access to the temporary folder could have created it.
        do {
            try PrivateFolder.make(path, makesParents: false)
        } catch let failure as LoadFailure where failure.code == .cannotOpenFile {
            throw LoadFailure(.cannotCreateFile, "\(failure.description): remove it, or set TMPDIR")
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
                // The next download makes another.
                _ = SystemCalls.removeDirectory(own)
                throw DownloadFailure.make(.cannotCreateFile, "the folder \(own) cannot be opened", opened)
            }
            // A sweeping process may have taken it for an abandoned folder.
            if takeLock(descriptor), isThere(descriptor) { return Own(path: own, descriptor: descriptor) }
            SystemCalls.closeLocked(descriptor)
        }
    }
}

package enum DownloadFailure {
    /// - Parameter result: the result of the system call.
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
