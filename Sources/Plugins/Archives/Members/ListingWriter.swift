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

    private let archive: String
    private let prefix: [UInt8]
    private var entries: CentralDirectory.Entries
    private var stage = Stage.start

    /// - Parameter prefix: The prefix of the listed names.
    init(_ directory: CentralDirectory, prefix: String, archive: URL) {
        entries = directory.entries
        self.prefix = Array(prefix.utf8)
        // Without the URL's password: a listing may be displayed or stored.
        self.archive = Self.withoutUser(archive)
    }

    /// Nil at the end.
    mutating func next() -> Data? {
        var text = ""
        switch stage {
        case .start:
            text = "{\"archive\":\(Self.quoted(archive)),\"members\":["
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
            text += "\n\(Self.member(entry))"
            stage = .members(isFirst: false)
        }
        return Data(text.utf8)
    }

    private static func member(_ entry: DirectoryEntry) -> String {
        let time = entry.modified.map { CivilTime(secondsSince1970: $0.timeIntervalSince1970).timestamp }
        let modified = time.map { "\"modified\":\"\($0)\"," } ?? ""
        return "{\"name\":\(quoted(entry.name)),\"isDirectory\":\(entry.isDirectory),\"size\":\(entry.size),"
            + "\"compressedSize\":\(entry.compressedSize),\"method\":\(entry.method),"
            + "\"crc32\":\"\(hexadecimal(entry.checksum))\",\(modified)\"isEncrypted\":\(entry.isEncrypted)}"
    }

    private static func withoutUser(_ url: URL) -> String {
        guard url.user != nil || url.password != nil,
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url.absoluteString }
        parts.user = nil
        parts.password = nil
        return parts.string ?? ""
    }

    /// A string of JSON (RFC 8259 §7).
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
