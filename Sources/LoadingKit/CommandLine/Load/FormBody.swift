import Foundation

/// The body that `-d` asks for.
enum FormBody {
    /// Nil where there is none. Pieces are joined with `&`; `@FILE` is a file's content without its line breaks.
    static func make(_ pieces: [String], readFile: (String) throws -> Data) throws -> Data? {
        guard !pieces.isEmpty else { return nil }
        return Data(try pieces.map { try bytes(of: $0, readFile) }.joined(separator: "&".utf8))
    }

    private static func bytes(of piece: String, _ readFile: (String) throws -> Data) throws -> [UInt8] {
        guard piece.hasPrefix("@") else { return Array(piece.utf8) }
        let path = String(piece.dropFirst())
        do {
            return try readFile(path).filter { $0 != 0x0a && $0 != 0x0d && $0 != 0 }
        } catch {
            throw ToolFailure(.readError, "the data of \(path) cannot be read: \(error.localizedDescription)")
        }
    }
}
