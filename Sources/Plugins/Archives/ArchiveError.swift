import Foundation

/// The error when a member or a directory of an archive was not loaded.
public enum ArchiveError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The URL does not consist of `zip:`, an archive's URL, `!/` and a member's name. The text has the reason.
    case invalidURL(String)
    /// The request's method is neither GET nor HEAD.
    case unsupportedMethod(String)
    /// The archive's server answered with this status.
    case unexpectedStatus(Int)
    /// The archive's server does not support ranges, and the archive is larger than ``ArchiveLimits/wholeArchive``. The
    /// size is in bytes; nil where the server does not report it.
    case rangesNotSupported(size: Int64?)
    /// The archive's server sent another range than was requested, or a coded one. The text has the details.
    case wrongRange(String)
    /// The loaded bytes have no end of a ZIP directory at their end.
    case notAnArchive
    /// A part of the archive is missing. The text names it.
    case truncated(String)
    /// The archive's directory does not follow the format. The text names the place.
    case malformedDirectory(String)
    /// The archive is one of several parts.
    case multiDisk
    /// The archive's directory has more bytes than ``ArchiveLimits/directory``.
    case directoryTooLarge(size: Int64)
    /// The archive has no member with this name.
    case memberNotFound(String)
    /// The member is encrypted.
    case encrypted(String)
    /// The member is compressed by a method that is neither stored (0) nor deflate (8).
    case unsupportedCompression(member: String, method: Int)
    /// The member's local header differs from the directory. The text names the field.
    case localHeaderDiffers(member: String, field: String)
    /// The member's data extends into the bytes of the next record.
    case overlapping(String)
    /// The member's data cannot be decoded, or its size differs from the directory's.
    case corruptMember(String, reason: String)
    /// The decoded member exceeds `ratio` times its received bytes
    /// (`URLSessionConfiguration.maximumDecompressionRatio`).
    case expandsTooFar(String, ratio: Int)
    /// The member's CRC-32 differs from the directory's.
    case wrongChecksum(member: String, expected: UInt32, found: UInt32)
    /// The archive was replaced by another one while it was read, twice, or after a part of the member was delivered.
    case archiveChanged

    /// The description in plain words.
    public var description: String {
        switch self {
        case .invalidURL(let reason):
            "the URL is not of the form zip:ARCHIVE!/MEMBER: \(reason)"
        case .unsupportedMethod(let method): "a member of an archive can be loaded with GET or HEAD, not \(method)"
        case .unexpectedStatus(let status): "the archive cannot be loaded: its server answered with status \(status)"
        case .rangesNotSupported(let size):
            "the archive's server does not answer ranges, and the whole archive\(size.map { " of \($0) bytes" } ?? "") is "
                + "larger than the limit: raise ArchiveLimits.wholeArchive, or download the archive"
        case .wrongRange(let reason): "the archive's server did not answer a range as it was requested: \(reason)"
        case .notAnArchive: "this is not a ZIP archive: the end of a directory is not at its end"
        case .truncated(let part): "the archive is truncated: \(part)"
        case .malformedDirectory(let reason): "the archive's directory is malformed: \(reason)"
        case .multiDisk: "the archive is one of several parts, which are not supported: join them first"
        case .directoryTooLarge(let size):
            "the archive's directory has \(size) bytes, more than the limit: raise ArchiveLimits.directory"
        case .memberNotFound(let name): "the archive has no member \(name)"
        case .encrypted(let name): "the member \(name) is encrypted, which is not supported"
        case .unsupportedCompression(let name, let method):
            "the member \(name) is compressed by method \(method); stored (0) and deflate (8) are supported"
        case .localHeaderDiffers(let name, let field):
            "the member \(name) is refused: its local header has another \(field) than the directory"
        case .overlapping(let name): "the member \(name) is refused: its data extends into the next record"
        case .corruptMember(let name, let reason): "the member \(name) is corrupt: \(reason)"
        case .expandsTooFar(let name, let ratio):
            "the member \(name) expands to more than \(ratio) times its size, more than "
                + "configuration.maximumDecompressionRatio allows: raise that where the archive is trusted"
        case .wrongChecksum(let name, let expected, let found):
            "the member \(name) is corrupt: its CRC-32 is \(hexadecimal(found)), and should be \(hexadecimal(expected))"
        case .archiveChanged: "the archive was replaced while it was read: load the member again"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}

/// The value as eight hexadecimal digits.
func hexadecimal(_ value: UInt32) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
}
