/// What makes a header list malformed (RFC 9113 §8.1.1) as far as a list alone shows it.
///
/// A malformed list is a stream error, of type PROTOCOL_ERROR. The decoder goes on, as its dynamic table must.
public struct HPACKMalformation: OptionSet, Sendable, Hashable {
    /// A bit for each kind, which may change from release to release.
    public let rawValue: UInt16

    /// The kinds of these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A name has a capital letter (RFC 9113 §8.2).
    public static let uppercaseName = HPACKMalformation(rawValue: 1 << 0)
    /// A name is empty, or has a byte that is no byte of a token (RFC 9113 §8.2.1, RFC 9110 §5.1).
    public static let invalidName = HPACKMalformation(rawValue: 1 << 1)
    /// A value has NUL, CR, LF or another control character, except HTAB (RFC 9113 §8.2.1, RFC 9110 §5.5).
    public static let invalidValue = HPACKMalformation(rawValue: 1 << 2)
    /// A value begins or ends with a space or HTAB (RFC 9113 §8.2.1).
    public static let whitespaceAroundValue = HPACKMalformation(rawValue: 1 << 3)
    /// A pseudo-header field comes after a regular one (RFC 9113 §8.3).
    public static let misplacedPseudoField = HPACKMalformation(rawValue: 1 << 4)
    /// A pseudo-header field that no specification known here defines (RFC 9113 §8.3).
    public static let unknownPseudoField = HPACKMalformation(rawValue: 1 << 5)
    /// A pseudo-header field comes twice (RFC 9113 §8.3).
    public static let duplicatePseudoField = HPACKMalformation(rawValue: 1 << 6)
    /// `Connection`, `Proxy-Connection`, `Keep-Alive`, `Transfer-Encoding`, `Upgrade`, or a `TE` other than `trailers`
    /// (RFC 9113 §8.2.2).
    public static let connectionSpecificField = HPACKMalformation(rawValue: 1 << 7)
}
