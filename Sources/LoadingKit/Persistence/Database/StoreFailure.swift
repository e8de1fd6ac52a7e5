#if Persistence
    import CLoadingKitSQLite
    import LoadingKitTransport

    /// Why a store cannot keep things, or give them back.
    enum StoreFailure: Error, CustomStringConvertible {
        /// A system call has failed.
        case system(String, path: String, code: Int32)
        /// The file was written by a version of this library that is newer than this one.
        case newer(path: String)
        /// There is no key, or what is there is none.
        case noKey(path: String)
        /// So many credentials were encrypted with another key, or changed since.
        case wrongKey(Int)
        /// OpenSSL has failed.
        case encryption

        var description: String {
            switch self {
            case .system(let call, let path, let code):
                "\(call) \(path): \(SystemCalls.text(ofError: code))"
            case .newer(let path):
                "\(path) was written by a newer version of the library"
            case .noKey(let path):
                "\(path) has no key; put back the one that they were kept with"
            case .wrongKey(let count):
                "\(count) of them are encrypted with another key than the one in the file beside it, or damaged"
            case .encryption:
                "OpenSSL could not encrypt"
            }
        }

        /// Checks the result of a system call; throws when it is a failure.
        @discardableResult
        static func check(_ call: String, _ path: String, _ result: Int) throws -> Int {
            guard result < 0 else { return result }
            throw StoreFailure.system(call, path: path, code: Int32(truncatingIfNeeded: -result))
        }

        /// Whether the file is not what this library made of it: begun anew it serves again.
        static func isDamage(_ error: any Error) -> Bool {
            guard let error = error as? SQLiteError else { return false }
            // All statements are our own: one that is in error finds other tables than were made for it.
            return [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_FORMAT].contains(error.primaryCode)
        }

        /// Whether something is not what was encrypted with the key.
        static func isWrongKey(_ error: any Error) -> Bool {
            if case .wrongKey? = error as? StoreFailure { true } else { false }
        }

        /// Whether another process holds the file, so that it is worth to try again.
        static func isBusy(_ error: any Error) -> Bool {
            guard let error = error as? SQLiteError else { return false }
            return [SQLITE_BUSY, SQLITE_LOCKED].contains(error.primaryCode)
        }
    }
#endif
