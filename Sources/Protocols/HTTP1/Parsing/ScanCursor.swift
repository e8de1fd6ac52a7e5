import CLoadingKitShims
import LoadingKitPrimitives

/// A position in a piece of input that is being scanned.
///
/// A cursor is only made from a buffer, with `start <= index <= end <= count`. Every step keeps `index` at or before
/// `end`.
struct ScanCursor {
    let bytes: UnsafePointer<UInt8>
    /// The index of the next byte.
    var index: Int
    /// The end of this piece of input, or of the part that the limits allow.
    let end: Int
    /// The index of the first byte that has not been kept.
    private(set) var start: Int
    /// The difference between an offset in the section and its index.
    private(set) var shift: Int

    /// A cursor at `index`, before which `kept` bytes of the section have been kept.
    init(bytes: UnsafePointer<UInt8>, index: Int, end: Int, kept: Int) {
        self.bytes = bytes
        self.index = index
        self.end = end
        start = index
        shift = kept &- index
    }

    @inline(__always) var byte: UInt8 { bytes[index] }
    @inline(__always) var isAtEnd: Bool { index >= end }

    /// The offset in the section of the next byte.
    @inline(__always) var offset: Int { index &+ shift }

    /// The number of bytes read since ``start``.
    var taken: Int { index &- start }

    /// Records that all bytes before `index` are kept. They are the first `kept` bytes of the section.
    mutating func restart(kept: Int) {
        start = index
        shift = kept &- index
    }

    /// Advances to the first byte that is not allowed in a field value, or to the end.
    @inline(__always)
    mutating func skipValue() { index &+= lk_value_end(bytes + index, end &- index) }

    /// Advances to the first byte that is not allowed in a token, or to the end.
    @inline(__always)
    mutating func skipToken() { index &+= lk_token_end(bytes + index, end &- index) }

    /// Advances to the first byte that is neither a space nor a tab, or to the end.
    @inline(__always)
    mutating func skipSpace() {
        while index < end, ASCII.isSpace(bytes[index]) { index &+= 1 }
    }
}
