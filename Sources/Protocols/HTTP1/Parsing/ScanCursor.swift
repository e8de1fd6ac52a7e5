import CLoadingKitShims
import LoadingKitPrimitives

/// A place in a piece of input that is being scanned.
///
/// Only made from a buffer, with `start <= index <= end <= count`; every step keeps `index` at most at `end`.
struct ScanCursor {
    let bytes: UnsafePointer<UInt8>
    /// The next byte to look at.
    var index: Int
    /// Where this piece of input, or what the limits leave of it, ends.
    let end: Int
    /// The first byte that has not been kept.
    private(set) var start: Int
    /// What to add to an index for its offset in the section.
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

    /// Bytes read since ``start``.
    var taken: Int { index &- start }

    /// Remembers that everything before `index` has been kept, which is `kept` bytes of the section now.
    mutating func restart(kept: Int) {
        start = index
        shift = kept &- index
    }

    /// Goes on to the first byte that is not allowed in a field value, or the end.
    @inline(__always)
    mutating func skipValue() { index &+= lk_value_end(bytes + index, end &- index) }

    /// Goes on to the first byte that is not allowed in a token, or the end.
    @inline(__always)
    mutating func skipToken() { index &+= lk_token_end(bytes + index, end &- index) }

    /// Goes on to the first byte that is neither a space nor a tab, or the end.
    @inline(__always)
    mutating func skipSpace() {
        while index < end, ASCII.isSpace(bytes[index]) { index &+= 1 }
    }
}
