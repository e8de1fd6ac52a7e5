import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The folder of a session's files: a private folder of the session below the journal's folder, or a folder in the one
/// that the program has chosen, which other sessions may share. Its functions may block.
struct PartFolder: Sendable {
    enum Kind: String, CaseIterable {
        case part
        /// The copy of the file that the transfer uploads.
        case upload
        /// The decoded content of a download.
        case decoded
    }

    let path: String
    /// The prefix of the names of the session's files.
    private let prefix: String
    /// The private folder for the downloads of all sessions that name no folder; nil for a session that names one.
    private let parent: String?

    /// - Parameters:
    ///   - chosen: The folder of the session's downloads; nil for a session that names none.
    ///   - folder: The folder for the downloads of all sessions that name none.
    init(for session: SessionDescription, chosen: String?, in folder: String) throws {
        // Other services may have files in the folder that the program has chosen: those of the daemon, and of the program.
        prefix = try Self.name(of: session, in: chosen == nil ? nil : folder)
        path = chosen.map { $0 + "/.loadkit-downloads" } ?? "\(folder)/\(prefix)"
        parent = chosen == nil ? folder : nil
    }

    /// - Parameter service: The folder that distinguishes the service from others; nil in that folder.
    private static func name(of session: SessionDescription, in service: String?) throws -> String {
        try name(of: [session.program, session.identifier] + (service.map { [$0] } ?? []))
    }

    /// A plain name of fixed length, whatever characters the texts have.
    static func name(of texts: [String]) throws -> String {
        let text = Data(texts.joined(separator: "\u{0}").utf8)
        guard let hash = KeyedHash(key: Data(count: KeyedHash.keySize))?.hash(of: text) else {
            throw LoadFailure(.cannotCreateFile, "OpenSSL has no memory for the name of a background session's file")
        }
        return hash.prefix(16).map { String(format: "%02x", $0) }.joined()
    }

    func path(of identifier: Int, _ kind: Kind = .part) -> String { "\(path)/\(prefix)-\(identifier).\(kind)" }

    /// The copy of the file that a transfer uploads; nil where there is none.
    func copy(of identifier: Int) -> UploadFile? {
        let copy = UploadFile(path: path(of: identifier, .upload))
        return (try? copy.state()) == nil ? nil : copy
    }

    func remove(_ identifier: Int) { for kind in Kind.allCases { _ = SystemCalls.unlink(path(of: identifier, kind)) } }

    func make() throws {
        for folder in [parent, path].compactMap({ $0 }) { try PrivateFolder.make(folder) { PartFailure($0, $1, $2) } }
    }

    /// Removes the folder where it is empty.
    func removeIfEmpty() { _ = SystemCalls.removeDirectory(path) }

    /// The identifiers of the transfers whose files are in the folder.
    func leftIdentifiers() -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.compactMap { name in
            let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Kind(rawValue: String(parts[1])) != nil, name.hasPrefix(prefix + "-") else {
                return nil
            }
            return Int(parts[0].dropFirst(prefix.count + 1))
        }
    }

    // MARK: Resume data

    /// Takes the file that a program's resume data names. Nil where the file no longer exists, or another download
    /// uses it: then the whole content is loaded. Throws where the data is no resume data.
    func takePart(of data: Data, for identifier: Int, bootIdentifier: String) throws -> PartRecord? {
        let resumeData = try ResumeData(data)
        try make()
        let name = resumeData.fileName
        guard let (source, descriptor) = try openKept(name) ?? DownloadFolder.shared.take(name) else { return nil }
        defer { SystemCalls.closeLocked(descriptor) }
        var status = stat()
        let size = SystemCalls.fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
        let cut = SystemCalls.truncate(descriptor, to: min(resumeData.count, size))
        try PartFailure.check(cut, .cannotWriteToFile, "the file \(source) cannot be shortened")
        let path = path(of: identifier)
        try NewFile.move(source, to: path)
        var record = PartRecord(resumeData: data, bootIdentifier: bootIdentifier)
        let file = try PartFile(path, record: record, bootIdentifier: bootIdentifier)
        guard file.count > 0, let vouched = try file.synchronize() else { return nil }
        (record.count, record.checksums) = vouched
        return record
    }

    /// Hands a transfer's file over to the program. Returns the resume data; nil where there is nothing to continue.
    ///
    /// The file is moved to the temporary folder. Where that is not possible, as its disk is full, the file stays in this
    /// folder, where the session's transfers find it.
    func handOver(_ identifier: Int, _ part: PartRecord, count: Int64) -> Data? {
        guard count > 0, var data = try? ResumeData(part.resumeData) else { return nil }
        let (name, source) = (DownloadFolder.newName(), path(of: identifier))
        do {
            try NewFile.move(source, to: DownloadFolder.shared.path(of: name))
            DownloadFolder.shared.leave(name, size: count)
        } catch {
            guard SystemCalls.rename(source, "\(path)/\(name)") == 0 else { return nil }
        }
        data.fileName = name
        data.count = count
        return data.encoded
    }

    /// Opens and locks a file that has stayed in this folder; nil where there is none, or another transfer takes it.
    private func openKept(_ name: String) -> (path: String, descriptor: Int32)? {
        let source = "\(path)/\(name)"
        let opened = SystemCalls.open(source, O_RDWR | O_NOFOLLOW)
        guard let descriptor = Int32(exactly: opened), descriptor >= 0 else { return nil }
        var status = stat()
        // Another transfer may have moved it before it released the lock.
        if DownloadFolder.takeLock(descriptor), SystemCalls.lstat(source, &status) == 0 { return (source, descriptor) }
        SystemCalls.closeLocked(descriptor)
        return nil
    }

    /// Removes old files that have stayed in the folders of sessions, also of those that are over. The folders stay: in
    /// one that is gone, a download that the program has moved could not be told from one that cannot be reached.
    static func removeOldKept(below parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] {
            removeOldKept(in: "\(parent)/\(name)")
        }
    }

    /// Removes files that have stayed in a session's folder, and that no transfer has taken for a day.
    static func removeOldKept(in path: String, _ now: Date = Date()) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where DownloadFolder.isName(name) {
            let file = "\(path)/\(name)"
            var status = stat()
            guard SystemCalls.lstat(file, &status) == 0 else { continue }
            // The time when it got this name: its last bytes may have come days before.
            let changed = Date(timeIntervalSince1970: TimeInterval(status.st_ctim.tv_sec))
            if changed.isOfUnsetClock, !now.isOfUnsetClock {
                // Its age is unknown, and is counted from now on: this sets the time of the last change, too.
                DownloadFolder.setChanged(file, now)
            } else if now.timeIntervalSince(changed) > DownloadFolder.Limits().age {
                _ = SystemCalls.unlink(file)
            }
        }
    }
}
