import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Part files on their way between a program's resume data and the service. Its functions may block.
enum ResumedPart {
    /// Takes the file that resume data names. Nil where there is none any more, or another download uses it: then all is loaded.
    /// Throws where the data is no resume data.
    static func take(
        _ data: Data, _ folder: PartFolder, _ identifier: Int, _ bootIdentifier: String
    ) throws -> PartRecord? {
        let resumeData = try ResumeData(data)
        try folder.make()
        guard let (source, descriptor) = try DownloadFolder.shared.take(resumeData.fileName) else { return nil }
        defer { SystemCalls.close(descriptor) }
        let cut = SystemCalls.truncate(descriptor, to: min(resumeData.count, size(descriptor)))
        guard cut >= 0 else { throw PartFailure(.cannotWriteToFile, "\(source) cannot be shortened", cut).failure }
        let path = folder.path(of: identifier)
        try move(source, path)
        var record = PartRecord(resumeData: data, bootIdentifier: bootIdentifier)
        let file = try PartFile(path, record: record, bootIdentifier: bootIdentifier)
        guard file.count > 0, let vouched = try file.synchronize() else { return nil }
        (record.count, record.checksums) = vouched
        return record
    }

    /// Gives the file away, for resume data, which is the result; nil where there is nothing to go on from.
    static func handOver(_ path: String, _ part: PartRecord, count: Int64) -> Data? {
        let name = DownloadFolder.newName()
        guard count > 0, var data = try? ResumeData(part.resumeData),
            let target = try? DownloadFolder.shared.path(of: name),
            (try? move(path, target)) != nil
        else { return nil }
        data.fileName = name
        data.count = count
        DownloadFolder.shared.leave(name, size: count)
        return data.encoded
    }

    private static func size(_ descriptor: Int32) -> Int64 {
        var status = stat()
        return SystemCalls.fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    private static func move(_ source: String, _ target: String) throws {
        let moved = SystemCalls.rename(source, target)
        guard moved == -Int(EXDEV) else {
            if moved < 0 { throw PartFailure(.cannotMoveFile, "\(source) cannot be moved to \(target)", moved).failure }
            return
        }
        do {
            try FileManager.default.copyItem(atPath: source, toPath: target)
        } catch {
            _ = SystemCalls.unlink(target)
            throw error
        }
        _ = SystemCalls.unlink(source)
    }
}
