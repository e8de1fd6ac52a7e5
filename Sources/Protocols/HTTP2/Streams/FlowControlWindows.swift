/// The number of bytes that the peer may send, and the time of the next window update.
///
/// The window has three numbers: the bytes that the peer may still send, the received bytes that are not consumed, and
/// the window's target size. A WINDOW_UPDATE is sent after half of the target has been consumed, so that a small body
/// needs no update and a large one needs two per window, and none for the end of a response whose length is known.
struct ReceiveWindow {
    /// The number of bytes that the peer may send, according to the window updates sent.
    private(set) var available: Int
    /// The number of received bytes that the caller holds.
    private(set) var held = 0
    /// The size of the window while the caller holds no bytes.
    var target: Int

    init(available: Int, target: Int) {
        self.available = available
        self.target = target
    }

    /// Counts received bytes. Returns false if they exceed the window. Zero bytes are always allowed, even if the
    /// window is negative (§6.9.1).
    mutating func receive(_ count: Int) -> Bool {
        guard count <= available || count == 0 else { return false }
        available -= count
        held += count
        return true
    }

    /// Counts bytes that the caller has consumed. A larger number than the held bytes counts as all of them.
    mutating func consume(_ count: Int) { held -= min(max(0, count), held) }

    /// Applies a change of SETTINGS_INITIAL_WINDOW_SIZE, which the peer applies to the stream itself (§6.9.2).
    mutating func settingDidChange(by difference: Int) { available += difference }

    /// The increment to send to the peer now; nil while it is too small to be worth a frame. `pending` is the growth of
    /// the window by settings that the peer has not acknowledged.
    mutating func takeIncrement(pending: Int = 0, minimum: Int? = nil) -> Int? {
        let missing = target - held - available - pending
        guard missing > 0, missing >= minimum ?? target / 2 else { return nil }
        // Only a negative window can lack more than one frame can add. The rest is sent in the next frame.
        let increment = min(missing, SendWindow.largest)
        available += increment
        return increment
    }
}

/// The number of bytes that this side may send (RFC 9113 §5.2). It may be negative after the peer has reduced the
/// window (§6.9.2).
struct SendWindow {
    static let largest = 0x7fff_ffff

    private(set) var available: Int

    init(_ size: Int) { available = size }

    /// Takes `count` bytes. The caller has checked that they are available.
    mutating func take(_ count: Int) { available -= count }

    /// Grows or shrinks by `count` bytes. Returns false if the window exceeds its maximum. Both numbers have 32 bits.
    mutating func grow(_ count: Int) -> Bool {
        available += count
        return available <= Self.largest
    }
}
