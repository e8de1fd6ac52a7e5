import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Writes a directory as JSON, piece by piece.
struct ListingWriter {
    private static let pieceSize = 32 * 1024

    private enum Stage {
        case start
        case members(isFirst: Bool)
        case end
    }

    private let encoder = JSONEncoder()
    private let archive: String
    private let prefix: [UInt8]
    private var entries: CentralDirectory.Entries
    private var stage = Stage.start

    /// - Parameter prefix: The prefix of the listed names.
    init(_ directory: CentralDirectory, prefix: String, archive: URL) {
        entries = directory.entries
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.prefix = Array(prefix.utf8)
        // Without the URL's password: a listing may be displayed or stored.
        self.archive = Self.withoutUser(archive)
    }

    /// Nil at the end.
    mutating func next() -> Data? {
        var text = ""
        switch stage {
        case .start:
            text = "{\"archive\":\(json(archive)),\"members\":["
            stage = .members(isFirst: true)
        case .members(let isFirst): stage = .members(isFirst: isFirst)
        case .end: return nil
        }
        while text.utf8.count < Self.pieceSize {
            guard let entry = entries.next() else {
                stage = .end
                return Data("\(text)]}\n".utf8)
            }
            guard entry.name.utf8.starts(with: prefix) else { continue }
            if case .members(isFirst: false) = stage { text += "," }
            text += "\n\(json(ArchiveListing.Member(entry)))"
            stage = .members(isFirst: false)
        }
        return Data(text.utf8)
    }

    /// Encoding such a value does not fail.
    private func json(_ value: some Encodable) -> String {
        (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }

    private static func withoutUser(_ url: URL) -> String {
        guard url.user != nil || url.password != nil,
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url.absoluteString }
        parts.user = nil
        parts.password = nil
        return parts.string ?? ""
    }
}

extension ArchiveListing.Member {
    fileprivate init(_ entry: DirectoryEntry) {
        self.init(
            name: entry.name, isDirectory: entry.isDirectory, size: entry.size, compressedSize: entry.compressedSize,
            method: Int(entry.method), crc32: hexadecimal(entry.checksum),
            modified: entry.modified.map { CivilTime(secondsSince1970: $0.timeIntervalSince1970).timestamp },
            isEncrypted: entry.isEncrypted)
    }
}
