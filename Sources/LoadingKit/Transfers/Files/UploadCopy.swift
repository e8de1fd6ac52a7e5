import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Copies of the files that uploads send: a program may write to its file, or remove it, once the upload is begun. The functions
/// may block.
enum UploadCopy {
    /// Larger files are copied only where the file system has both share the content.
    static let largest: Int64 = 16 << 20

    /// The copy, which is as the file was: of the same size and date. Nil where none can be made, or the file is written to
    /// meanwhile: then the file itself is sent, and must stay as it is.
    ///
    /// - Parameter limit: how large it may be where it has to be copied byte by byte; below 0 for no copy at all.
    static func make(of file: UploadFile, at path: String, upTo limit: Int64) -> UploadFile? {
        guard limit >= 0, let before = try? file.state(), let source = Int32(exactly: file.open()), source >= 0 else {
            return nil
        }
        defer { SystemCalls.close(source) }
        _ = SystemCalls.unlink(path)
        let opened = SystemCalls.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        guard let target = Int32(exactly: opened), target >= 0 else { return nil }
        defer { SystemCalls.close(target) }
        let copy = UploadFile(path: path)
        let isMade =
            fill(target, from: source, before.size, limit)
            && SystemCalls.setModificationTime(
                target, seconds: before.modified, nanoseconds: before.modifiedNanoseconds) >= 0
        guard isMade, SystemCalls.synchronize(target) >= 0, let after = try? file.state(), after == before,
            let made = try? copy.state(), made.size == before.size
        else {
            _ = SystemCalls.unlink(path)
            return nil
        }
        return copy
    }

    private static func fill(_ target: Int32, from source: Int32, _ size: Int64, _ limit: Int64) -> Bool {
        if SystemCalls.clone(source, to: target) >= 0 { return true }
        guard size <= limit else { return false }
        while true {
            let count = SystemCalls.copy(source, to: target, count: Int(clamping: largest))
            if count <= 0 { return count == 0 }
        }
    }
}
