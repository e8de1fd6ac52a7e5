import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Moves a complete download to its destination. An existing file is never replaced. May block.
enum DestinationFile {
    /// Returns the files to remove when the transfer's end is in the journal. Should the process be killed before,
    /// these files show that the file at the destination is the transfer's own.
    static func place(_ part: String, at destination: String) throws -> [String] {
        if try link(part, destination) { return [part] }
        // The destination is on another file system, or on one without hard links.
        let copy = try copyPath(part, destination)
        if isSame(copy, destination) { return [part, copy] }
        do {
            _ = try NewFile.copy(part, to: copy)
            if try link(copy, destination) { return [part, copy] }
            try placeWithoutLinks(copy, destination)
            return [part]
        } catch {
            _ = SystemCalls.unlink(copy)
            throw error
        }
    }

    /// Makes a hard link at the destination. False where the file cannot have one there.
    private static func link(_ file: String, _ destination: String) throws -> Bool {
        let linked = SystemCalls.link(file, destination)
        if linked == 0 || isSame(file, destination) { return true }
        guard linked != -Int(EEXIST) else { throw taken(destination) }
        return false
    }

    /// The path of the copy, which is beside the destination. Its name has the same length for each destination, whose name
    /// may be as long as a file system allows.
    private static func copyPath(_ part: String, _ destination: String) throws -> String {
        let folder = (destination as NSString).deletingLastPathComponent
        let name = try PartFolder.name(of: [part, destination])
        return "\(folder)/.loadkit-\(name)"
    }

    /// Looks for the complete file that an earlier attempt has placed at the destination. That attempt's process was
    /// killed before the transfer's end was in the journal. Called before an attempt loads any content.
    ///
    /// - Returns: The files to remove when the transfer's end is in the journal; nil where no file is at the destination.
    /// - Throws: Where another file is at the destination.
    static func findPlaced(_ part: String, at destination: String) throws -> [String]? {
        var status = stat()
        guard SystemCalls.lstat(destination, &status) == 0 else {
            try releasePlaced(part)
            return nil
        }
        let copy = try copyPath(part, destination)
        let isCopy = isSame(copy, destination)
        guard isCopy || isSame(part, destination) else { throw taken(destination) }
        try NewFile.synchronizeName(of: destination)
        return isCopy ? [part, copy] : [part]
    }

    /// Removes the name of a part that has another name, too: it was placed, and then the user has moved it from the
    /// destination. The attempt writes to a new file.
    private static func releasePlaced(_ part: String) throws {
        var status = stat()
        guard SystemCalls.lstat(part, &status) == 0, status.st_nlink > 1 else { return }
        try PartFailure.check(SystemCalls.unlink(part), .cannotRemoveFile, "the part file \(part) cannot be removed")
    }

    private static func placeWithoutLinks(_ copy: String, _ destination: String) throws {
        var moved = SystemCalls.renameWithoutReplacing(copy, destination)
        if moved == -Int(EINVAL) || moved == -Int(ENOSYS) { moved = replacePlaceholder(copy, destination) }
        guard moved != -Int(EEXIST) else { throw taken(destination) }
        try PartFailure.check(moved, .cannotMoveFile, "the download cannot be put at \(destination)")
    }

    /// For a file system that cannot rename without replacing: the replaced file is an empty one of this process,
    /// which it creates only where no file exists.
    private static func replacePlaceholder(_ copy: String, _ destination: String) -> Int {
        let opened = SystemCalls.open(destination, O_WRONLY | O_CREAT | O_EXCL)
        guard opened >= 0 else { return opened }
        SystemCalls.close(Int32(clamping: opened))
        let moved = SystemCalls.rename(copy, destination)
        if moved < 0 { _ = SystemCalls.unlink(destination) }
        return moved
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return SystemCalls.lstat(one, &first) == 0 && SystemCalls.lstat(other, &second) == 0
            && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    private static func taken(_ destination: String) -> LoadFailure {
        LoadFailure(.cannotMoveFile, "a file exists at \(destination), which is not replaced")
    }
}
