import Foundation

/// What an archive's directory holds: the JSON that `zip:ARCHIVE!/` loads, and `zip:ARCHIVE!/FOLDER/` for a part of it.
///
/// ```swift
/// let (data, _) = try await session.data(from: url)
/// let listing = try JSONDecoder().decode(ArchiveListing.self, from: data)
/// ```
public struct ArchiveListing: Sendable, Hashable, Codable {
    /// The archive's URL.
    public var archive: String
    /// The members in the directory's order. Names may occur more than once: what is loaded then is the last of them.
    public var members: [Member]

    /// An entry of the directory.
    public struct Member: Sendable, Hashable, Codable {
        /// The name as the archive has it. It may begin with `/` or contain `..`: no file may be made by it unchecked.
        public var name: String
        /// Whether it is a folder, whose name ends with `/`.
        public var isDirectory: Bool
        /// Bytes when decoded.
        public var size: Int64
        /// Bytes in the archive.
        public var compressedSize: Int64
        /// The compression method's number: 0 is stored, 8 is deflate.
        public var method: Int
        /// The CRC-32 of the content, in eight hexadecimal digits.
        public var crc32: String
        /// When it was changed (RFC 3339), by the archive's extended timestamp, else by its time without a zone, taken as
        /// UTC; nil where that is no time.
        public var modified: String?
        /// Whether it is encrypted, and cannot be loaded.
        public var isEncrypted: Bool
    }
}
