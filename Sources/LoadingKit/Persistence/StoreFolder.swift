#if Persistence
    import Foundation
    import LoadingKitTransport

    /// A store's folder on disk, which only its user may look into.
    enum StoreFolder {
        /// Makes it where there is none. One that is there keeps its mode.
        static func make(_ url: URL) throws {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    /// Says which processes use a folder: each holds a shared lock on a file in it, until it ends, however it ends.
    final class FolderLock: Sendable {
        private let descriptor: Int32
        /// Whether this one was alone with the folder, and still is until it calls ``share()``.
        let isAlone: Bool

        init(_ url: URL) throws {
            let result = SystemCalls.open(url.path, O_RDWR | O_CREAT, mode: 0o600)
            descriptor = Int32(try StoreFailure.check("open", url.path, result))
            isAlone = SystemCalls.lock(descriptor, LOCK_EX | LOCK_NB) == 0
            if !isAlone { share() }
        }

        /// Lets others in. Waits for one that is alone.
        func share() { _ = SystemCalls.lock(descriptor, LOCK_SH) }

        deinit { SystemCalls.close(descriptor) }
    }
#endif
