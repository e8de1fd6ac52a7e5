import LoadingKitPrimitives

/// Whether the server of an HTTP/2 connection still answers: a connection that has been quiet is sent a PING
/// when a request is about to use it and while a response is overdue, so that a dead one is found in seconds.
struct KeepAlivePing {
    enum Verdict {
        case fine, sendPing
        case dead(String)
    }

    /// A connection that was quiet for so long is sent a PING, in nanoseconds.
    static let quietTime: UInt64 = 5_000_000_000
    /// The answer may take so long, in nanoseconds.
    static let answerTime: UInt64 = 5_000_000_000
    /// SETTINGS may take so long to be acknowledged, in nanoseconds (RFC 9113 §6.5.3).
    static let settingsTime: UInt64 = 30_000_000_000
    /// A connection of this age takes no new requests, in nanoseconds: addresses and certificates change.
    static let maximumAge: UInt64 = 3_600_000_000_000

    /// The values of PINGs, by which their answers are known.
    static let livenessPing: UInt64 = 0x4C4B_4C49_5645_0000
    static let windowPing: UInt64 = 0x4C4B_5749_4E44_0000

    private let start: MonotonicTime
    private var lastReceived: MonotonicTime
    private var sentAt: MonotonicTime?
    private var awaitsSettings = true

    init(_ now: MonotonicTime) {
        start = now
        lastReceived = now
    }

    var awaitsAnswer: Bool { sentAt != nil || awaitsSettings }

    mutating func didReceive(_ now: MonotonicTime) {
        lastReceived = now
        sentAt = nil
    }

    /// The server, or the way to it, has taken bytes: the PING is behind them, and its answer too.
    mutating func didSend(_ now: MonotonicTime) { if sentAt != nil { sentAt = now } }

    /// Gives how long the first acknowledgement took, in nanoseconds.
    mutating func settingsWereAcknowledged(_ now: MonotonicTime) -> UInt64? {
        defer { awaitsSettings = false }
        return awaitsSettings ? now.nanoseconds(since: start) : nil
    }

    mutating func pingWasSent(_ now: MonotonicTime) { if sentAt == nil { sentAt = now } }

    /// Whether a request that uses the connection now is to take a PING along.
    func isDueBeforeUse(_ now: MonotonicTime) -> Bool {
        sentAt == nil && now.nanoseconds(since: lastReceived) >= Self.quietTime
    }

    func nextCheck(_ now: MonotonicTime) -> MonotonicTime {
        let time =
            sentAt?.advanced(byNanoseconds: Self.answerTime) ?? lastReceived.advanced(byNanoseconds: Self.quietTime)
        return max(time, now.advanced(byNanoseconds: Self.quietTime / 10))
    }

    func check(_ now: MonotonicTime) -> Verdict {
        if awaitsSettings, now.nanoseconds(since: start) >= Self.settingsTime {
            return .dead("the server did not acknowledge HTTP/2's SETTINGS")
        }
        if let sentAt {
            guard now.nanoseconds(since: sentAt) >= Self.answerTime else { return .fine }
            return .dead("the server answers nothing any more, not even a PING")
        }
        return now.nanoseconds(since: lastReceived) >= Self.quietTime ? .sendPing : .fine
    }
}
