import LoadingKitHTTP2
import LoadingKitPrimitives

/// Sizes the windows of HTTP/2 streams by the product of bandwidth and delay: a PING goes out while a stream's body is read,
/// and what its reader takes until the PING's answer shows the bandwidth. The delay is the shortest round trip seen, as a PING
/// that waits behind a body shows more of the queue than of the way. A window that the product nearly fills is too
/// small.
///
/// A stream's window is also what a reader that stops may have sent to it: it grows as the reader takes what comes, and not
/// while bytes are held for it. The connection's window counts nothing that has arrived: a task that is suspended holds up
/// its own stream, and no other.
struct BandwidthEstimator {
    /// What a stream may have on its way at first, in bytes: more than most responses have, and little enough for each of
    /// many readers that never begin to read.
    static let initialStream = 128 << 10
    /// What a stream may have whose reader took half of that as it came, in bytes: as much as a reader takes that stops once its
    /// feed is full.
    static let testedStream = 512 << 10
    /// What a stream may have whose reader took all of that as it came, in bytes: about what browsers and curl allow.
    static let fluentStream = 8 << 20
    /// The largest window of a stream: enough for 5 Gbit/s over 100 ms.
    static let maximumStream = 64 << 20
    /// What a connection's streams may have on their way together, in bytes. Their own windows bound what is held.
    static let connection = 128 << 20
    /// By how much windows grow that were too small: TCP's own doubles in a round trip, and is not to be held back.
    static let growth = 4
    /// Between two measurements that found nothing to change, in nanoseconds: servers count PINGs.
    private static let pause: UInt64 = 500_000_000

    private enum Measurement {
        case none(notBefore: MonotonicTime)
        case running(HTTP2StreamID, since: MonotonicTime, bytes: Int)
    }

    /// What a measurement has found of a stream.
    struct Finding: Equatable {
        let stream: HTTP2StreamID
        /// What was on its way to the stream's reader in one round trip, in bytes.
        let onTheWay: Int
    }

    private var measurement: Measurement
    /// The shortest round trip, in nanoseconds.
    private var delay = UInt64.max

    init(_ now: MonotonicTime) { measurement = .none(notBefore: now) }

    /// Something that the server answers at once was answered after so many nanoseconds.
    mutating func didMeasureRoundTrip(_ nanoseconds: UInt64) { delay = min(delay, nanoseconds) }

    /// The reader of a stream has taken bytes. True when a measurement begins, for which a PING is to be sent.
    mutating func readerDidTake(
        _ bytes: Int, of stream: HTTP2StreamID, window: Int, _ now: MonotonicTime
    ) -> Bool {
        switch measurement {
        case .running(stream, let start, let before):
            measurement = .running(stream, since: start, bytes: before + bytes)
            return false
        case .running: return false
        case .none(let time):
            guard window >= Self.fluentStream, window < Self.maximumStream, now >= time else { return false }
            measurement = .running(stream, since: now, bytes: bytes)
            return true
        }
    }

    /// The measurement's PING is answered.
    mutating func pingWasAnswered(_ now: MonotonicTime) -> Finding? {
        guard case .running(let stream, let start, let bytes) = measurement else { return nil }
        let time = max(1, now.nanoseconds(since: start))
        didMeasureRoundTrip(time)
        measurement = .none(notBefore: now.advanced(byNanoseconds: Self.pause))
        return Finding(stream: stream, onTheWay: Int(Double(bytes) * (Double(delay) / Double(time))))
    }

    /// A window was too small, and the larger one may be, too: it is measured at once.
    mutating func windowDidGrow(_ now: MonotonicTime) {
        if case .none = measurement { measurement = .none(notBefore: now) }
    }
}
