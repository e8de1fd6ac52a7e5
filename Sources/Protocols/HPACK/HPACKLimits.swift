/// How large a header list may be before its fields are no longer kept.
public struct HPACKLimits: Sendable, Equatable {
    /// Bytes of one list: of its names and values, and 32 for each field, which is how SETTINGS_MAX_HEADER_LIST_SIZE
    /// counts (RFC 9113 §6.5.2); 256 KiB. At most 2 GiB counts, whatever is set.
    public var listBytes = 256 * 1024

    /// Fields of one list, pseudo-header fields among them; 1,000.
    public var fieldCount = 1000

    /// The limits that this page gives.
    public init() {}
}
