#if Persistence
    import CLoadingKitSQLite
    import Foundation
    import LoadingKitPrimitives
    import TestSupport

    /// Has SQLite's reads of one file fail with `EIO`, as those of a disk that is about to die.
    final class FailingReads: Sendable {
        private typealias Read = @convention(c) (Int32, UnsafeMutableRawPointer?, Int) -> Int
        private typealias ReadAt = @convention(c) (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int

        private struct Failures {
            /// The first offset at which reads fail.
            var start: off_t
            /// The number of reads that are to fail.
            var count: Int
        }

        /// By the file's path.
        private static let failures = Guarded<[String: Failures]>([:])
        private static let areReplaced: Bool = {
            let read: Read = { FailingReads.fails($0, lseek($0, 0, SEEK_CUR)) ? -1 : Glibc.read($0, $1, $2) }
            let readAt: ReadAt = { FailingReads.fails($0, $3) ? -1 : Glibc.pread($0, $1, $2, $3) }
            guard let system = sqlite3_vfs_find(nil), let replace = system.pointee.xSetSystemCall else { return false }
            // SQLite uses one of these, as it was built.
            let results = [
                replace(system, "read", unsafeBitCast(read, to: sqlite3_syscall_ptr.self)),
                replace(system, "pread", unsafeBitCast(readAt, to: sqlite3_syscall_ptr.self)),
                replace(system, "pread64", unsafeBitCast(readAt, to: sqlite3_syscall_ptr.self)),
            ]
            return results.allSatisfy { $0 == SQLITE_OK }
        }()

        private let path: String

        /// - Parameters:
        ///   - start: the first offset at which reads fail.
        ///   - count: the number of reads that fail from now on, until `stop()`.
        init(of file: URL, from start: off_t = 0, count: Int) {
            path = file.resolvingSymlinksInPath().path
            guard Self.areReplaced else { return }
            Self.failures.withLock { $0[path] = Failures(start: start, count: count) }
        }

        /// Returns the number of reads that would still have failed.
        @discardableResult
        func stop() -> Int { Self.failures.withLock { $0.removeValue(forKey: path)?.count ?? 0 } }

        private static func fails(_ descriptor: Int32, _ offset: off_t) -> Bool {
            let fails = failures.withLock { failures in
                guard !failures.isEmpty,
                    let path = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/self/fd/\(descriptor)"),
                    let next = failures[path], next.count > 0, offset >= next.start
                else { return false }
                failures[path]?.count -= 1
                return true
            }
            if fails { errno = EIO }
            return fails
        }
    }
#endif
