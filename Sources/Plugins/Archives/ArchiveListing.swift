import Foundation

/// The contents of an archive's directory: the JSON at `zip:ARCHIVE!/`, and at `zip:ARCHIVE!/FOLDER/` for a part of it.
///
/// ```swift
/// let (data, _) = try await session.data(from: url)
/// let listing = try JSONDecoder().decode(ArchiveListing.self, from: data)
/// ```
public struct ArchiveListing: Sendable, Hashable, Codable {
    /// The archive's URL.
    public var archive: String
    /// The members in the directory's order. Names may occur more than once: a load then gets the last of them.
    public var members: [Member]

    /// An entry of the directory.
    public struct Member: Sendable, Hashable, Codable {
        /// The name in the archive. It may begin with `/` or contain `..`: do not create a file with an unchecked name.
        public var name: String
        /// Whether the member is a folder, whose name ends with `/`.
        public var isDirectory: Bool
        /// The decoded size in bytes.
        public var size: Int64
        /// The size in the archive in bytes.
        public var compressedSize: Int64
        /// The compression method's number: 0 is stored, 8 is deflate.
        public var method: Int
        /// The CRC-32 of the content, in eight hexadecimal digits.
        public var crc32: String
        /// The time of the last modification (RFC 3339), from the archive's extended timestamp, otherwise from its time
        /// without a zone, interpreted as UTC; nil where that is not a valid time.
        public var modified: String?
        /// Whether the member is encrypted, and cannot be loaded.
        public var isEncrypted: Bool
    }
}
