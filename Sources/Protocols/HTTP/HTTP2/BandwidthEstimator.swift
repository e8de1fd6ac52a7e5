import LoadingKitHTTP2
import LoadingKitPrimitives

/// Sizes the windows of HTTP/2 streams by the product of bandwidth and delay. A PING is sent while a stream's body is
/// read. The bytes that the reader takes until its answer show the bandwidth. The delay is the shortest round trip
/// measured: a PING behind a body measures the queue more than the network. A window that the product nearly fills is
/// too small.
///
/// A stream's window also limits the bytes that are held for a reader which has stopped. It therefore grows only while
/// the reader takes bytes on arrival, at first only many in a short time (``FluentReading``). Such bytes do not count
/// against the connection's window: a suspended task blocks its own stream only.
struct BandwidthEstimator {
    /// A stream's first window, in bytes: larger than most responses, and small enough for many readers that never
    /// read.
    static let initialStream = 128 << 10
    /// The window of a stream whose reader took half of `initialStream` on arrival, in bytes.
    static let testedStream = 512 << 10
    /// The window after a reader took all of `testedStream` on arrival, in bytes: about that of browsers and curl.
    static let fluentStream = 8 << 20
    /// The largest window of a stream: enough for 5 Gbit/s over 100 ms.
    static let maximumStream = 64 << 20
    /// The bytes that a connection's streams may have in flight together. Their own windows limit the bytes that are
    /// held.
    static let connection = 128 << 20
    /// The growth of a window that was too small. TCP's own window, which doubles in a round trip, must not be held
    /// back.
    static let growth = 4
    /// The pause after a measurement without a result, in nanoseconds: servers limit the number of PINGs.
    private static let pause: UInt64 = 500_000_000

    private enum Measurement {
        case none(notBefore: MonotonicTime)
        case running(HTTP2StreamID, since: MonotonicTime, bytes: Int)
    }

    struct Finding: Equatable {
        let stream: HTTP2StreamID
        /// The bytes in flight to the stream's reader in one round trip.
        let onTheWay: Int
    }

    private var measurement: Measurement
    private var delay = UInt64.max

    init(_ now: MonotonicTime) { measurement = .none(notBefore: now) }

    /// The server answered a frame, which it does at once, after `nanoseconds`.
    mutating func didMeasureRoundTrip(_ nanoseconds: UInt64) { delay = min(delay, nanoseconds) }

    /// The reader of a stream has taken bytes. Returns true if a measurement begins, for which a PING must be sent.
    ///
    /// - Parameter mayNeedMore: whether the server may need a larger window. Called only where a measurement would begin.
    mutating func readerDidTake(
        _ bytes: Int, of stream: HTTP2StreamID, window: Int, _ now: MonotonicTime,
        mayNeedMore: @autoclosure () -> Bool = true
    ) -> Bool {
        switch measurement {
        case .running(stream, let start, let before):
            measurement = .running(stream, since: start, bytes: before + bytes)
            return false
        case .running: return false
        case .none(let time):
            guard window >= Self.fluentStream, window < Self.maximumStream, now >= time, mayNeedMore() else {
                return false
            }
            measurement = .running(stream, since: now, bytes: bytes)
            return true
        }
    }

    mutating func pingWasAnswered(_ now: MonotonicTime) -> Finding? {
        guard case .running(let stream, let start, let bytes) = measurement else { return nil }
        let time = max(1, now.nanoseconds(since: start))
        didMeasureRoundTrip(time)
        measurement = .none(notBefore: now.advanced(byNanoseconds: Self.pause))
        return Finding(stream: stream, onTheWay: Int(Double(bytes) * (Double(delay) / Double(time))))
    }

    /// The larger window may be too small as well, so it is measured at once.
    mutating func windowDidGrow(_ now: MonotonicTime) {
        if case .none = measurement { measurement = .none(notBefore: now) }
    }
}
