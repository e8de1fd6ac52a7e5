import LoadingKitPrimitives

/// Sizes the windows of an HTTP/2 connection by the product of bandwidth and delay: a PING goes out while a body
/// comes in, and what arrives until its answer is what the way holds. A window that was nearly full in that time is too
/// small.
///
/// A stream's window is what a suspended task may have sent to it before it is heard of, so that a new stream begins
/// with little, and gets more when its body comes. The connection's window counts nothing that has arrived: a task
/// that is suspended holds up its own stream, and no other.
struct HTTP2Windows {
    /// What a stream may have on its way at first, in bytes: about what browsers allow.
    static let initialStream = 8 << 20
    /// What the connection may have on its way at first, in bytes.
    static let initialConnection = 16 << 20
    /// The largest window of a stream: enough for 5 Gbit/s over 100 ms.
    static let maximumStream = 64 << 20
    /// The largest window of a connection.
    static let maximumConnection = 128 << 20
    /// By how much windows grow that were too small: TCP's own doubles in a round trip, and is not to be held back.
    private static let growth = 4
    /// Between two measurements that found nothing to change, in nanoseconds: servers count PINGs.
    private static let pause: UInt64 = 500_000_000

    private enum Measurement {
        case none(notBefore: MonotonicTime)
        case running(bytes: Int)
    }

    private(set) var stream = Self.initialStream
    private var measurement: Measurement

    init(_ now: MonotonicTime) { measurement = .none(notBefore: now) }

    var connection: Int { min(Self.maximumConnection, stream * 4) }

    /// Bytes of a body have come. True when a measurement begins, for which a PING is to be sent.
    mutating func received(_ bytes: Int, _ now: MonotonicTime) -> Bool {
        switch measurement {
        case .running(let before):
            measurement = .running(bytes: before + bytes)
            return false
        case .none(let time):
            guard stream < Self.maximumStream, now >= time else { return false }
            measurement = .running(bytes: bytes)
            return true
        }
    }

    /// The measurement's PING is answered. True when the windows are to be larger.
    mutating func answered(_ now: MonotonicTime) -> Bool {
        guard case .running(let bytes) = measurement else { return false }
        guard bytes >= stream / 2 else {
            measurement = .none(notBefore: now.advanced(byNanoseconds: Self.pause))
            return false
        }
        stream = min(Self.maximumStream, stream * Self.growth)
        measurement = .none(notBefore: now)
        return true
    }
}
