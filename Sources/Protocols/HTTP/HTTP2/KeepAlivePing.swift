import LoadingKitPrimitives

/// Checks whether the server of an HTTP/2 connection still answers. A connection that has been quiet is sent a PING
/// when a request is about to use it, a few times while a response is overdue, and after a change of the networks. A
/// connection on which nothing arrives any more is thus found within ten seconds of the next request. A server that
/// computes may answer nothing for longer, although its system has acknowledged the PING.
struct KeepAlivePing {
    enum Verdict {
        case fine, sendPing
        case dead(String)
    }

    /// Times in nanoseconds. A connection that was quiet for this time is sent a PING.
    static let quietTime: UInt64 = 5_000_000_000
    static let answerTime: UInt64 = 5_000_000_000
    /// The limit for the answer to a PING that has arrived. There is one, as what has acknowledged the PING may be a
    /// proxy, behind which the server is gone.
    static let busyTime: UInt64 = 30_000_000_000
    /// The number of PINGs without HEADERS or DATA from the server between them, while a response is overdue. Further
    /// ones follow after a pause. gRPC's servers end the connection at the fourth of such PINGs with less than five
    /// minutes between them (`too_many_pings`). The third is left for the next request.
    private static let mostInARow = 2
    private static let pauseTime: UInt64 = 310_000_000_000
    /// The limit for the acknowledgement of SETTINGS (RFC 9113 §6.5.3).
    static let settingsTime: UInt64 = 30_000_000_000

    /// TCP's initial window (RFC 6928), in bytes. Fewer bytes before a PING do not hold it up.
    private static let initialWindow = 14_600

    /// PINGs, identified by their values.
    static let livenessPing: UInt64 = 0x4C4B_4C49_5645_0000
    static let windowPing: UInt64 = 0x4C4B_5749_4E44_0000
    /// The number of the check is added.
    static let checkPing: UInt64 = 0x4C4B_4348_0000_0000

    private enum Settings {
        case sent(at: MonotonicTime)
        case acknowledged
    }

    private enum Probe {
        case none(lastReceived: MonotonicTime)
        /// A PING was sent, and no bytes have arrived since. It may stand behind the bytes of bodies: its time runs anew
        /// when a socket that was full takes bytes again, or when the server's system has acknowledged some of them.
        case sent(at: MonotonicTime, isSocketFull: Bool)
        /// The system of the server, or of a proxy on the way, has acknowledged the PING, and no bytes have arrived
        /// since.
        case arrived(sentAt: MonotonicTime)
    }

    private var settings: Settings
    private var probe: Probe
    /// The number of PINGs since the last HEADERS or DATA.
    private var inARow = 0
    private var lastSent = MonotonicTime(nanoseconds: 0)
    /// The number of sent bytes that the server's system had not acknowledged, at the last PING or check.
    private var unacknowledged = 0
    /// Whether the server has not yet answered the PING of the last check.
    private(set) var isChecking = false
    private var checkCount: UInt32 = 0

    init(_ now: MonotonicTime) {
        settings = .sent(at: now)
        probe = .none(lastReceived: now)
    }

    var awaitsAnswer: Bool {
        switch (probe, settings) {
        case (.sent, _), (.arrived, _), (_, .sent): true
        case (.none, .acknowledged): isChecking
        }
    }

    mutating func didReceive(_ now: MonotonicTime) { probe = .none(lastReceived: now) }

    mutating func didReceiveHeadersOrData() { inARow = 0 }

    /// A request uses the connection, and permits one more PING.
    mutating func requestWillBegin() { inARow = min(inARow, Self.mostInARow - 1) }

    /// The socket takes no bytes until the server, or the network on the way to it, has taken some.
    mutating func socketDidFill() {
        if case .sent(let time, _) = probe { probe = .sent(at: time, isSocketFull: true) }
    }

    /// The socket has taken bytes. This tells something about the server only if the socket was full: it also takes
    /// requests to a server that is gone.
    mutating func didSend(_ now: MonotonicTime) {
        if case .sent(_, isSocketFull: true) = probe { probe = .sent(at: now, isSocketFull: false) }
    }

    /// Must be called when a PING was sent, and before each check. The PING may stand behind bytes of bodies in the
    /// socket's buffer: its time runs anew while there are fewer and fewer of them. It has arrived when there are none,
    /// unless it was only just sent: it may not be in the socket yet.
    ///
    /// - Parameter count: the number of sent bytes that the server's system has not acknowledged; 0 where this side's
    ///   system does not say.
    mutating func noteUnacknowledged(_ count: Int, _ now: MonotonicTime) {
        if case .sent(let time, let isSocketFull) = probe {
            if count == 0, !isSocketFull, now.nanoseconds(since: time) >= Self.quietTime / 10 {
                probe = .arrived(sentAt: time)
            } else if unacknowledged > Self.initialWindow, count < unacknowledged {
                probe = .sent(at: now, isSocketFull: isSocketFull)
            }
        }
        unacknowledged = count
    }

    /// Returns the time that the first acknowledgement took, in nanoseconds.
    mutating func settingsWereAcknowledged(_ now: MonotonicTime) -> UInt64? {
        guard case .sent(let time) = settings else { return nil }
        settings = .acknowledged
        return now.nanoseconds(since: time)
    }

    mutating func pingWasSent(_ now: MonotonicTime) {
        (inARow, lastSent) = (inARow + 1, now)
        switch probe {
        case .none, .arrived: probe = .sent(at: now, isSocketFull: false)
        case .sent: break
        }
    }

    /// The networks have changed: the way to the server must be checked. Returns the value of the PING that must be sent.
    mutating func beginCheck(_ now: MonotonicTime) -> UInt64 {
        isChecking = true
        checkCount &+= 1
        pingWasSent(now)
        return Self.checkPing | UInt64(checkCount)
    }

    /// Returns whether the answer ends the check. Bytes that were on their way before the change do not.
    mutating func pingWasAnswered(_ value: UInt64) -> Bool {
        guard isChecking, value == Self.checkPing | UInt64(checkCount) else { return false }
        isChecking = false
        return true
    }

    /// Whether a PING must be sent with a request that uses the connection now.
    func isDueBeforeUse(_ now: MonotonicTime) -> Bool {
        switch probe {
        case .none(let lastReceived): now.nanoseconds(since: lastReceived) >= Self.quietTime
        case .sent, .arrived: false
        }
    }

    /// Whether a PING may follow the last one while a response is overdue.
    private func mayRepeat(_ now: MonotonicTime) -> Bool {
        isChecking || inARow < Self.mostInARow || now.nanoseconds(since: lastSent) >= Self.pauseTime
    }

    func nextCheck(_ now: MonotonicTime) -> MonotonicTime {
        switch probe {
        case .none(let lastReceived):
            let pause = mayRepeat(now) ? Self.quietTime / 10 : Self.quietTime
            return max(lastReceived.advanced(byNanoseconds: Self.quietTime), now.advanced(byNanoseconds: pause))
        case .sent(let time, _):
            return max(
                time.advanced(byNanoseconds: Self.answerTime), now.advanced(byNanoseconds: Self.quietTime / 10))
        case .arrived: return now.advanced(byNanoseconds: Self.quietTime)
        }
    }

    /// The limit for the answer to the PING. A check after a change of the networks is short in any case, as no request
    /// begins before its end.
    private var answerLimit: UInt64 {
        if case .arrived = probe, !isChecking { Self.busyTime } else { Self.answerTime }
    }

    func check(_ now: MonotonicTime) -> Verdict {
        if case .sent(let time) = settings, now.nanoseconds(since: time) >= Self.settingsTime {
            return .dead("the server did not acknowledge HTTP/2's SETTINGS")
        }
        switch probe {
        case .none: return isDueBeforeUse(now) && mayRepeat(now) ? .sendPing : .fine
        case .sent(let time, _), .arrived(let time):
            guard now.nanoseconds(since: time) >= answerLimit else { return .fine }
            return .dead("the server no longer answers, not even a PING")
        }
    }
}
