import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Puts a complete download where it is to be. A file that is there is never replaced. May block.
enum DestinationFile {
    /// Gives what is to be removed when the journal has the transfer's end: until then it shows, should the process be killed
    /// in between, that the file at the destination is the transfer's own.
    static func place(_ part: String, at destination: String) throws -> [String] {
        let linked = SystemCalls.link(part, destination)
        if linked == 0 || isSame(part, destination) { return [part] }
        guard linked != -Int(EEXIST) else { throw taken(destination) }
        // Another file system, or one that has no second names.
        let copy = destination + ".loadkit-" + (part as NSString).lastPathComponent
        if isSame(copy, destination) { return [part, copy] }
        _ = SystemCalls.unlink(copy)
        do {
            try copyFile(part, to: copy)
            try synchronize(copy)
            let placed = SystemCalls.link(copy, destination)
            if placed == 0 { return [part, copy] }
            guard placed != -Int(EEXIST) else { throw taken(destination) }
            try placeWithoutLinks(copy, destination)
            return [part]
        } catch {
            _ = SystemCalls.unlink(copy)
            throw error
        }
    }

    /// Throws where something is there. Asked before a transfer begins, so that nothing is loaded in vain.
    static func checkIsFree(_ destination: String, part: String) throws {
        var status = stat()
        guard SystemCalls.lstat(destination, &status) == 0, !isSame(part, destination),
            !isSame(destination + ".loadkit-" + (part as NSString).lastPathComponent, destination)
        else { return }
        throw taken(destination)
    }

    private static func copyFile(_ part: String, to copy: String) throws {
        do {
            try FileManager.default.copyItem(atPath: part, toPath: copy)
        } catch let error as CocoaError {
            let reason = (error.underlying as? POSIXError)?.code.rawValue
            let code = reason ?? (error.code == .fileWriteOutOfSpace ? ENOSPC : EIO)
            throw PartFailure(.cannotWriteToFile, "the download cannot be copied to \(copy)", -Int(code))
        }
    }

    private static func placeWithoutLinks(_ copy: String, _ destination: String) throws {
        var moved = SystemCalls.renameWithoutReplacing(copy, destination)
        if moved == -Int(EINVAL) || moved == -Int(ENOSYS) { moved = replacePlaceholder(copy, destination) }
        guard moved != -Int(EEXIST) else { throw taken(destination) }
        guard moved >= 0 else {
            throw PartFailure(.cannotMoveFile, "the download cannot be put at \(destination)", moved)
        }
    }

    /// On a file system that cannot rename without replacing: what is replaced is an empty file of this process's own, which it
    /// makes only where nothing is.
    private static func replacePlaceholder(_ copy: String, _ destination: String) -> Int {
        let opened = SystemCalls.open(destination, O_WRONLY | O_CREAT | O_EXCL)
        guard let descriptor = Int32(exactly: opened), descriptor >= 0 else { return opened }
        SystemCalls.close(descriptor)
        let moved = SystemCalls.rename(copy, destination)
        if moved < 0 { _ = SystemCalls.unlink(destination) }
        return moved
    }

    private static func synchronize(_ path: String) throws {
        let opened = SystemCalls.open(path, O_RDONLY)
        guard let descriptor = Int32(exactly: opened), descriptor >= 0 else {
            throw PartFailure(.cannotMoveFile, "\(path) cannot be opened", opened)
        }
        defer { SystemCalls.close(descriptor) }
        let result = SystemCalls.synchronizeData(descriptor)
        guard result >= 0 else { throw PartFailure(.cannotMoveFile, "\(path) cannot be put on the disk", result) }
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return SystemCalls.lstat(one, &first) == 0 && SystemCalls.lstat(other, &second) == 0
            && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    private static func taken(_ destination: String) -> LoadFailure {
        LoadFailure(.cannotMoveFile, "something is at \(destination) already, which is not replaced")
    }
}
