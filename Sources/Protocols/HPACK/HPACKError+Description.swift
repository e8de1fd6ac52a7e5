extension HPACKError: CustomStringConvertible {
    /// The error in plain words, with the byte of the block where it was seen.
    public var description: String { "\(kind) (at byte \(offset))" }
}

extension HPACKError.Kind: CustomStringConvertible {
    /// What is wrong, in words.
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
