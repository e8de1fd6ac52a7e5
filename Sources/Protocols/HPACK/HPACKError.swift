/// The reason why a header block cannot be decoded.
///
/// The error is always the sender's fault. The following blocks on the connection cannot be decoded either, as the two
/// dynamic tables may differ now: a connection error of type COMPRESSION_ERROR (RFC 9113 §4.3). Fields that can be
/// decoded but violate a rule of HTTP are not such an error: see ``HPACKHeaderList/malformation``.
public struct HPACKError: Error, Sendable, Equatable {
    /// The kinds of errors.
    public enum Kind: Error, Equatable, CaseIterable {
        /// The block ends inside a field.
        case truncated
        /// An integer is above 2³² - 1, or has more bytes than such a number needs (RFC 7541 §5.1).
        case integerOverflow
        /// An index is 0, or above the number of entries of both tables (RFC 7541 §2.3.3).
        case invalidIndex
        /// A Huffman-coded string contains the code of EOS (RFC 7541 §5.2).
        case endOfStringSymbol
        /// A Huffman-coded string ends with more than 7 bits of padding, or with bits that are not all ones.
        case invalidPadding
        /// A size for the dynamic table is above the maximum that the decoder's side announced (RFC 7541 §6.3).
        case tableSizeAboveMaximum
        /// A size for the dynamic table comes after a field (RFC 7541 §4.2).
        case misplacedTableSize
        /// A block begins with more than two sizes for the dynamic table (RFC 7541 §4.2).
        case tooManyTableSizes
        /// The decoder's side announced a lower maximum, which the start of the block does not apply (RFC 7541 §4.2).
        case missingTableSize
        /// The block is longer than 256 MiB, which exceeds any reasonable limit.
        case blockTooLong
        /// The decoder got another block after a failure.
        case decoderFailed
    }

    /// The kind of the error.
    public var kind: Kind

    /// The offset in the block at which the error was found.
    public var offset: Int

    /// Makes an error.
    public init(_ kind: Kind, offset: Int = 0) {
        self.kind = kind
        self.offset = offset
    }
}

extension HPACKError: CustomStringConvertible {
    /// The error in plain words, with its offset in the block.
    public var description: String { "\(kind) (at byte \(offset))" }
}

extension HPACKError.Kind: CustomStringConvertible {
    /// The error in words.
    public var description: String {
        switch self {
        case .truncated: "the header block ends inside a field"
        case .integerOverflow: "an integer in the header block is too large"
        case .invalidIndex: "an index in the header block is in neither table"
        case .endOfStringSymbol: "a Huffman-coded string contains EOS"
        case .invalidPadding: "a Huffman-coded string is not padded as it must be"
        case .tableSizeAboveMaximum: "the header block sets a table size above the maximum that was announced"
        case .misplacedTableSize: "the header block sets the table size after a field"
        case .tooManyTableSizes: "the header block sets the table size more than twice"
        case .missingTableSize: "the header block does not take up the lower table size that was announced"
        case .blockTooLong: "the header block is longer than 256 MiB"
        case .decoderFailed: "an earlier header block could not be decoded"
        }
    }
}
