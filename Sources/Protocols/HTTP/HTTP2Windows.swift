import LoadingKitPrimitives

/// Sizes the windows of an HTTP/2 connection by the product of bandwidth and delay: a PING goes out while a body
/// comes in, and what arrives until its answer is what the way holds. A window that was nearly full in that time is too
/// small.
struct HTTP2Windows {
    /// What a stream may have on its way at first, in bytes.
    static let initialStream = 1 << 20
    /// What the connection may have on its way at first, in bytes.
    static let initialConnection = 2 << 20
    /// The largest window of a stream: enough for 1 Gbit/s over 128 ms.
    static let maximumStream = 16 << 20
    /// The largest window of a connection.
    static let maximumConnection = 32 << 20
    /// Between two measurements that found nothing to change, in nanoseconds: servers count PINGs.
    private static let pause: UInt64 = 500_000_000

    private enum Measurement {
        case none(notBefore: MonotonicTime)
        case running(bytes: Int)
    }

    private(set) var stream = Self.initialStream
    private var measurement: Measurement

    init(_ now: MonotonicTime) { measurement = .none(notBefore: now) }

    var connection: Int { min(Self.maximumConnection, stream * 2) }

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
        stream = min(Self.maximumStream, stream * 2)
        measurement = .none(notBefore: now)
        return true
    }
}
