#if Persistence
    import CLoadingKitSQLite
    import LoadingKitTransport

    /// The reason why a store cannot write or read.
    enum StoreFailure: Error, CustomStringConvertible {
        case system(String, path: String, code: Int32)
        /// The disk has failed to deliver bytes of the file, which may be undamaged.
        case unreadable(path: String, reason: String)
        /// The file was written by a newer version of this library.
        case newer(path: String)
        /// The key is missing or invalid.
        case noKey(path: String)
        /// This number of credentials were encrypted with another key, or changed since.
        case wrongKey(Int)
        case encryption

        var description: String {
            switch self {
            case .system(let call, let path, let code):
                "\(call) \(path): \(SystemCalls.text(ofError: code))"
            case .unreadable(let path, let reason):
                "\(path): a read has failed (\(reason))"
            case .newer(let path):
                "\(path) was written by a newer version of the library"
            case .noKey(let path):
                "\(path) contains no valid key; restore the file with which the store was written"
            case .wrongKey(let count):
                "\(count) entries are damaged, or encrypted with another key than the one in the file beside the store"
            case .encryption:
                "OpenSSL could not encrypt"
            }
        }

        /// Checks the result of a system call. Throws if it is an error.
        @discardableResult
        static func check(_ call: String, _ path: String, _ result: Int) throws -> Int {
            guard result < 0 else { return result }
            throw StoreFailure.system(call, path: path, code: Int32(truncatingIfNeeded: -result))
        }

        /// Whether the file does not have the contents that this library wrote. A new file solves the problem.
        static func isDamage(_ error: any Error) -> Bool {
            guard let error = error as? SQLiteError else { return false }
            // All statements are this library's own, so an SQL error means that the file has other tables.
            return [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_FORMAT].contains(error.primaryCode)
        }

        /// Whether the disk has not delivered bytes. In many places SQLite reports this as damage instead.
        static func isOfRead(_ error: any Error) -> Bool {
            guard let error = error as? SQLiteError else { return false }
            // SQLITE_IOERR_READ and SQLITE_IOERR_CORRUPTFS, macros that Swift cannot read.
            return [SQLITE_IOERR | 1 << 8, SQLITE_IOERR | 33 << 8].contains(error.code)
        }

        /// Whether another attempt may succeed: another process has locked the file, or a read has failed.
        static func isTemporary(_ error: any Error) -> Bool {
            if case StoreFailure.unreadable = error { true } else { isBusy(error) }
        }

        /// Whether another connection has locked the file, or opens the new file at the same time, so that another attempt
        /// may succeed.
        static func isBusy(_ error: any Error) -> Bool {
            guard let error = error as? SQLiteError else { return false }
            // SQLITE_IOERR_DELETE_NOENT, a macro that Swift cannot read: the other has deleted the log of the empty file.
            if error.code == SQLITE_IOERR | 23 << 8 { return true }
            return [SQLITE_BUSY, SQLITE_LOCKED].contains(error.primaryCode)
        }
    }
#endif
