/// How many bytes the peer may send, and when to allow it more.
///
/// Three numbers: what the peer may still send, what has come and is not consumed, and the size that the window is to
/// have. A WINDOW_UPDATE goes out once half of that has been consumed, so that a small body costs none and a large one
/// two a window.
struct ReceiveWindow {
    /// What the peer may send, by the window updates that it was sent.
    private(set) var available: Int
    /// What has come and the caller holds.
    private(set) var held = 0
    /// What the window shall be while the caller holds nothing.
    var target: Int

    init(available: Int, target: Int) {
        self.available = available
        self.target = target
    }

    /// Counts bytes that came; false when they are more than was allowed. None are always allowed, also where the window is
    /// below 0 (§6.9.1).
    mutating func receive(_ count: Int) -> Bool {
        guard count <= available || count == 0 else { return false }
        available -= count
        held += count
        return true
    }

    /// Counts bytes that the caller has done with; more than it holds is taken as all.
    mutating func consume(_ count: Int) { held -= min(max(0, count), held) }

    /// Follows a change of SETTINGS_INITIAL_WINDOW_SIZE, which the peer applies to the stream by itself (§6.9.2).
    mutating func settingDidChange(by difference: Int) { available += difference }

    /// The increment to send to the peer now, or nil while there is too little of it to be worth a frame. `pending` is what
    /// the window will grow by through settings that the peer has not acknowledged.
    mutating func takeIncrement(pending: Int = 0, minimum: Int? = nil) -> Int? {
        let missing = target - held - available - pending
        guard missing > 0, missing >= minimum ?? target / 2 else { return nil }
        // More than one frame can hold is missing only below 0; the rest follows with the next one.
        let increment = min(missing, SendWindow.largest)
        available += increment
        return increment
    }
}

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
