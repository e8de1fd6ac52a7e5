import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Where a session's part files are: in a private folder of the session's own below that of the journal, or in one in the
/// folder that the program has chosen, which other sessions may share. Its functions may block.
struct PartFolder: Sendable {
    let path: String
    /// What the names of the session's files begin with.
    private let prefix: String
    /// Folders to make first, each private.
    private let parents: [String]

    /// - Parameters:
    ///   - chosen: That of the session's downloads; nil for a session that names none.
    ///   - folder: That of all downloads whose sessions name none.
    init(for session: SessionDescription, chosen: String?, in folder: String) throws {
        prefix = try Self.name(of: session)
        if let chosen {
            path = chosen + "/.loadkit-downloads"
            parents = []
        } else {
            path = "\(folder)/\(prefix)"
            parents = [folder]
        }
    }

    /// Whatever the identifier is, a plain name of one length.
    private static func name(of session: SessionDescription) throws -> String {
        let text = Data("\(session.program)\u{0}\(session.identifier)".utf8)
        guard let hash = KeyedHash(key: Data(count: KeyedHash.keySize))?.hash(of: text) else {
            throw LoadFailure(.cannotCreateFile, "OpenSSL has no memory for the name of a background session's folder")
        }
        return hash.prefix(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    func path(of identifier: Int) -> String { "\(path)/\(prefix)-\(identifier).part" }

    /// The copy of the file that a transfer sends.
    func copyPath(of identifier: Int) -> String { "\(path)/\(prefix)-\(identifier).upload" }

    /// What a transfer's file is decoded to.
    func decodedPath(of identifier: Int) -> String { "\(path)/\(prefix)-\(identifier).decoded" }

    /// Nil where there is none.
    func copy(of identifier: Int) -> UploadFile? {
        let copy = UploadFile(path: copyPath(of: identifier))
        return (try? copy.state()) == nil ? nil : copy
    }

    func remove(_ identifier: Int) {
        for path in [path(of: identifier), copyPath(of: identifier), decodedPath(of: identifier)] {
            _ = SystemCalls.unlink(path)
        }
    }

    private static let suffixes = [".part", ".upload", ".decoded"]

    func make() throws {
        for folder in parents + [path] { try PrivateFolder.make(folder) }
    }

    /// Removes the folder, where nothing is in it any more.
    func removeIfEmpty() { _ = SystemCalls.removeDirectory(path) }

    /// The identifiers of the transfers that have left files.
    func leftIdentifiers() -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.compactMap { name in
            guard name.hasPrefix(prefix + "-"), let suffix = Self.suffixes.first(where: name.hasSuffix) else {
                return nil
            }
            return Int(name.dropFirst(prefix.count + 1).dropLast(suffix.count))
        }
    }
}
