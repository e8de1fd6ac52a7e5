import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// A URL of the form `zip:ARCHIVE!/MEMBER`: the URL of an archive, and the name of one of its members.
///
/// The name begins after the last `!/` of the URL. A `!/` within the name is written as `%21/`. The rest of the URL is
/// the name, percent-encoded, including a `?`; there is no fragment. An empty name denotes the whole archive, and a
/// name that ends with `/` denotes all members below it.
public struct ArchiveURL: Sendable, Hashable {
    /// The URL of the archive.
    public let archive: URL
    /// The bytes of the member's name: UTF-8, or the bytes in the archive.
    public let memberBytes: [UInt8]

    /// The member's name. Bytes that are not UTF-8 are replaced by U+FFFD.
    public var member: String { String(decoding: memberBytes, as: UTF8.self) }

    /// Makes a URL for a member of an archive.
    ///
    /// - Parameters:
    ///   - archive: The archive's URL, of any scheme whose handler supports ranges: `http`, `https`, `file`.
    ///   - member: The member's name, not percent-encoded. Empty, the default, for the archive's directory.
    public init(archive: URL, member: String = "") { self.init(archive: archive, memberBytes: Array(member.utf8)) }

    init(archive: URL, memberBytes: [UInt8]) {
        self.archive = archive
        self.memberBytes = memberBytes
    }

    /// Parses a URL.
    ///
    /// - Throws: ``ArchiveError/invalidURL(_:)``.
    public init(_ url: URL) throws(ArchiveError) {
        let text = url.absoluteString.prefix { $0 != "#" }
        guard let colon = text.firstIndex(of: ":"), text[..<colon].lowercased() == "zip" else {
            throw .invalidURL("its scheme is not zip")
        }
        let rest = text[text.index(after: colon)...]
        guard let separator = rest.range(of: "!/", options: .backwards) else { throw .invalidURL("it has no !/") }
        let archive = Self.repaired(rest[..<separator.lowerBound])
        guard let inner = URL(string: archive), let scheme = inner.scheme?.lowercased() else {
            throw .invalidURL("the archive's URL is not absolute: \(archive)")
        }
        guard scheme != "zip" else { throw .invalidURL("an archive within an archive is not supported") }
        guard let name = Self.decode(rest[separator.upperBound...]) else {
            throw .invalidURL("the member's name has a % without two digits")
        }
        self.init(archive: inner, memberBytes: name)
    }

    /// The URL; nil where the archive's URL cannot be part of a URL.
    public var url: URL? {
        let archive = archive.absoluteString.prefix { $0 != "#" }
        return URL(string: "zip:\(archive)!/\(Self.encode(memberBytes))")
    }

    /// Foundation percent-encodes the colon of the inner scheme where a URL is made from text with other characters
    /// that are not allowed.
    private static func repaired(_ archive: Substring) -> String {
        guard let percent = archive.firstIndex(of: "%"), archive[percent...].lowercased().hasPrefix("%3a"),
            archive[..<percent].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return String(archive) }
        return "\(archive[..<percent]):\(archive[percent...].dropFirst(3))"
    }

    /// The last part of a member's name, encoded for `filename*` (RFC 8187).
    static func encodedFilename(_ name: String) -> String {
        let last = name.split(separator: "/").last ?? ""
        return encode(Array(last.utf8))
    }

    private static func encode(_ name: [UInt8]) -> String { PercentCoding.encoded(name, keeping: "-._~/") }

    /// Nil where a `%` has no two digits.
    private static func decode(_ text: Substring) -> [UInt8]? {
        let coded = text.split(separator: "%", omittingEmptySubsequences: false).dropFirst()
        guard coded.allSatisfy({ $0.prefix(2).count { $0.isHexDigit } == 2 }) else { return nil }
        return PercentCoding.decoded(String(text))
    }
}
