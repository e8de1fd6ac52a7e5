import Foundation
import LoadingKitCore
import LoadingKitTransport

/// A lock file that one process at a time holds. The system releases the lock however the process ends.
package final class ProcessLock: Sendable {
    private let file: OwnedDescriptor

    private init(_ file: OwnedDescriptor) { self.file = file }

    deinit { _ = SystemCalls.lock(file.number, LOCK_UN) }

    /// Creates the file where it does not exist, in an existing folder. Blocks.
    ///
    /// - Parameter waits: Whether to wait while another process holds the lock.
    /// - Returns: Nil where another process holds the lock.
    package static func take(_ path: String, waits: Bool = false) throws -> ProcessLock? {
        // The file may be removed between its opening and its locking. Then another file is the lock.
        for _ in 0..<10 {
            let result = SystemCalls.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
            guard result >= 0 else {
                let reason = SystemCalls.text(ofError: Int32(clamping: -result))
                throw LoadFailure(.cannotOpenFile, "\(path): \(reason)")
            }
            let file = OwnedDescriptor(Int32(clamping: result))
            guard SystemCalls.lock(file.number, waits ? LOCK_EX : LOCK_EX | LOCK_NB) >= 0 else { return nil }
            var (locked, named) = (stat(), stat())
            guard SystemCalls.fstat(file.number, &locked) >= 0, SystemCalls.lstat(path, &named) >= 0,
                locked.st_ino == named.st_ino, locked.st_dev == named.st_dev
            else { continue }
            return ProcessLock(file)
        }
        throw LoadFailure(.cannotOpenFile, "\(path) is replaced again and again")
    }

    /// Takes the lock of a folder in which a service works. Blocks.
    ///
    /// - Parameter patience: How long to wait while another process holds the lock, in seconds.
    package static func take(folder: String, patience: Double) throws -> ProcessLock {
        let pause = 0.01
        var left = patience
        while true {
            if let lock = try take(folder + "/Transfers.lock") { return lock }
            guard left > 0 else { break }
            left -= pause
            usleep(useconds_t(pause * 1_000_000))
        }
        throw LoadFailure(
            .backgroundSessionInUseByAnotherProcess,
            "another process performs the background sessions whose journal is in \(folder)")
    }
}
