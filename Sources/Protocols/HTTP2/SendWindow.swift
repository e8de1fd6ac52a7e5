/// How many bytes this side may send (RFC 9113 §5.2). It may be negative after the peer has made it smaller (§6.9.2).
struct SendWindow {
    static let largest = 0x7fff_ffff

    private(set) var available: Int

    init(_ size: Int) { available = size }

    /// Takes `count` bytes, which the caller has found to be available.
    mutating func take(_ count: Int) { available -= count }

    /// Grows, or shrinks, by `count` bytes; false when that is beyond what a window may be. Both numbers are of 32 bits.
    mutating func grow(_ count: Int) -> Bool {
        available += count
        return available <= Self.largest
    }
}
