import LoadingKitPrimitives

/// Sizes the windows of an HTTP/2 connection by the product of bandwidth and delay: a PING goes out while a body
/// comes in, and what arrives until its answer shows the bandwidth. The delay is the shortest round trip seen, as a PING
/// that waits behind a body shows more of the queue than of the way. A window that the product nearly fills is too
/// small.
///
/// A stream's window is also what a suspended task may have sent to it before it is heard of, so that it is not larger
/// than the way needs. The connection's window counts nothing that has arrived: a task that is suspended holds up its own
/// stream, and no other.
struct BandwidthEstimator {
    /// What a stream may have on its way at first, in bytes: about what browsers and curl allow.
    static let initialStream = 8 << 20
    /// What the connection may have on its way at first, in bytes.
    static let initialConnection = 32 << 20
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
        case running(since: MonotonicTime, bytes: Int)
    }

    private(set) var stream = Self.initialStream
    private var measurement: Measurement
    /// The shortest round trip, in nanoseconds.
    private var delay = UInt64.max

    init(_ now: MonotonicTime) { measurement = .none(notBefore: now) }

    var connection: Int { min(Self.maximumConnection, stream * 4) }

    /// Something that the server answers at once was answered after so many nanoseconds.
    mutating func didMeasureRoundTrip(_ nanoseconds: UInt64) { delay = min(delay, nanoseconds) }

    /// Bytes of a body have come. True when a measurement begins, for which a PING is to be sent.
    mutating func didReceive(_ bytes: Int, _ now: MonotonicTime) -> Bool {
        switch measurement {
        case .running(let start, let before):
            measurement = .running(since: start, bytes: before + bytes)
            return false
        case .none(let time):
            guard stream < Self.maximumStream, now >= time else { return false }
            measurement = .running(since: now, bytes: bytes)
            return true
        }
    }

    /// The measurement's PING is answered. True when the windows are to be larger.
    mutating func pingWasAnswered(_ now: MonotonicTime) -> Bool {
        guard case .running(let start, let bytes) = measurement else { return false }
        let time = max(1, now.nanoseconds(since: start))
        didMeasureRoundTrip(time)
        let onTheWay = Double(bytes) * (Double(delay) / Double(time))
        guard onTheWay >= Double(stream) * 0.75 else {
            measurement = .none(notBefore: now.advanced(byNanoseconds: Self.pause))
            return false
        }
        stream = min(Self.maximumStream, stream * Self.growth)
        measurement = .none(notBefore: now)
        return true
    }
}
