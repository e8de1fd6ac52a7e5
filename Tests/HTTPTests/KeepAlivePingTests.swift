import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

/// When a connection is asked whether it is still there, and when it is given up.
@Suite struct KeepAlivePingTests {
    private static let second: UInt64 = 1_000_000_000
    private static func time(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * second) }

    private static func name(_ verdict: KeepAlivePing.Verdict) -> String {
        switch verdict {
        case .fine: "fine"
        case .sendPing: "ask"
        case .dead: "dead"
        }
    }

    @Test func aQuietConnectionIsAskedAndThenGivenUp() {
        var ping = KeepAlivePing(Self.time(1))
        _ = ping.settingsWereAcknowledged(Self.time(1))
        ping.didReceive(Self.time(10))
        #expect(Self.name(ping.check(Self.time(14))) == "fine" && !ping.isDueBeforeUse(Self.time(14)))
        #expect(Self.name(ping.check(Self.time(15))) == "ask" && ping.isDueBeforeUse(Self.time(15)))
        ping.pingWasSent(Self.time(15))
        #expect(ping.awaitsAnswer && !ping.isDueBeforeUse(Self.time(16)))
        #expect(Self.name(ping.check(Self.time(19))) == "fine")
        #expect(Self.name(ping.check(Self.time(20))) == "dead")
        // Whatever comes is an answer.
        ping.didReceive(Self.time(19))
        #expect(Self.name(ping.check(Self.time(20))) == "fine" && !ping.awaitsAnswer)
    }

    /// Looks at a connection until a second, as its timer does.
    ///
    /// - Returns: the seconds of the PINGs, and that at which the connection was given up.
    private static func watch(
        _ ping: inout KeepAlivePing, from start: UInt64, to end: UInt64, isAnswered: Bool
    ) -> (pings: [UInt64], dead: UInt64?) {
        var pings: [UInt64] = []
        var now = ping.nextCheck(time(start))
        while now <= time(end) {
            switch ping.check(now) {
            case .fine: break
            case .sendPing:
                ping.pingWasSent(now)
                pings.append(now.nanoseconds / second)
                if isAnswered { ping.didReceive(now) }
            case .dead: return (pings, now.nanoseconds / second)
            }
            now = ping.nextCheck(now)
        }
        return (pings, nil)
    }

    private static func quiet() -> KeepAlivePing {
        var ping = KeepAlivePing(time(0))
        _ = ping.settingsWereAcknowledged(time(0))
        ping.didReceive(time(0))
        return ping
    }

    /// gRPC's servers end a connection at the fourth PING without HEADERS or DATA of theirs in between.
    @Test func aQuietResponseIsNotAskedForAgainAndAgain() {
        var ping = Self.quiet()
        ping.requestWillBegin()
        let watched = Self.watch(&ping, from: 0, to: 600, isAnswered: true)
        #expect(watched.pings == [5, 10, 320] && watched.dead == nil)
        ping.didReceive(Self.time(601))
        ping.didReceiveHeadersOrData()
        #expect(Self.watch(&ping, from: 601, to: 700, isAnswered: true).pings == [606, 611])
    }

    /// The connection is dead after two answers, while a response is awaited. The new request may come while the
    /// connection is not quiet yet.
    @Test(arguments: [11, 14, 15, 100] as [UInt64]) func aNewRequestFindsADeadConnection(second: UInt64) {
        var ping = Self.quiet()
        ping.requestWillBegin()
        #expect(Self.watch(&ping, from: 0, to: second, isAnswered: true).pings == [5, 10])
        ping.requestWillBegin()
        if ping.isDueBeforeUse(Self.time(second)) { ping.pingWasSent(Self.time(second)) }
        let watched = Self.watch(&ping, from: second, to: second + 11, isAnswered: false)
        #expect(watched.dead.map { $0 <= second + 10 } == true)
    }

    /// A change of the networks asks whatever was asked before.
    @Test func aCheckIsNotLimited() {
        var ping = Self.quiet()
        #expect(Self.watch(&ping, from: 0, to: 20, isAnswered: true).pings == [5, 10])
        _ = ping.beginCheck(Self.time(20))
        ping.didReceive(Self.time(21))
        #expect(Self.watch(&ping, from: 21, to: 40, isAnswered: false).dead == 31)
    }

    /// A PING waits behind the bytes of bodies: its time runs from the last of them that a full socket has taken.
    @Test func theTimeOfAPingRunsFromTheLastBytesThatAFullSocketTakes() {
        var ping = KeepAlivePing(Self.time(1))
        _ = ping.settingsWereAcknowledged(Self.time(1))
        ping.socketDidFill()
        ping.didSend(Self.time(14))
        #expect(Self.name(ping.check(Self.time(14))) == "ask", "bytes that are sent are no sign of life")
        ping.pingWasSent(Self.time(15))
        ping.socketDidFill()
        ping.didSend(Self.time(18))
        #expect(Self.name(ping.check(Self.time(22))) == "fine")
        #expect(Self.name(ping.check(Self.time(23))) == "dead")
    }

    /// A PING also waits behind the bytes in the socket's buffer: its time runs anew while they become fewer. A server
    /// whose system has acknowledged it may be busy, and has more time.
    @Test func theTimeOfAPingDependsOnWhatIsAcknowledged() {
        let fine = Array(repeating: "fine", count: 5)
        let cases: [(unacknowledged: [Int], verdicts: [String])] = [
            ([200_000, 120_000, 40_000, 40_000], ["fine", "fine", "dead"]),
            ([200_000, 200_000], ["dead"]), ([200_000, 300_000], ["dead"]),
            // They would arrive at once.
            ([1000, 900], ["dead"]), ([17, 17], ["dead"]), ([0, 17], ["dead"]),
            ([0, 0, 0, 0, 0, 0, 0], fine + ["dead"]), ([1000, 0, 0, 0, 0, 0, 0], fine + ["dead"]),
            // Its time runs from the last bytes that were acknowledged before it.
            ([200_000, 120_000, 0, 0, 0, 0, 0, 0], fine + ["fine", "dead"]),
            // The bytes of further requests say nothing about the PING.
            ([17, 0, 200, 200, 400, 0, 200], fine + ["dead"]),
        ]
        for (counts, expected) in cases {
            var ping = KeepAlivePing(Self.time(1))
            _ = ping.settingsWereAcknowledged(Self.time(1))
            var verdicts: [String] = []
            for (index, count) in counts.enumerated() {
                let now = Self.time(15 + 5 * UInt64(index))
                if index == 0 { ping.pingWasSent(now) }
                ping.noteUnacknowledged(count, now)
                if index > 0 { verdicts.append(Self.name(ping.check(now))) }
            }
            #expect(verdicts == expected, "\(counts)")
        }
    }

    /// No request begins before its end, so it takes no longer where the server's system has acknowledged its PING, or
    /// that of an earlier look.
    @Test func aCheckIsShortAlsoWhereItsPingHasArrived() {
        var ping = KeepAlivePing(Self.time(1))
        _ = ping.settingsWereAcknowledged(Self.time(1))
        ping.pingWasSent(Self.time(15))
        ping.noteUnacknowledged(0, Self.time(20))
        #expect(Self.name(ping.check(Self.time(28))) == "fine" && !ping.isDueBeforeUse(Self.time(28)))
        _ = ping.beginCheck(Self.time(28))
        ping.noteUnacknowledged(0, Self.time(32))
        #expect(Self.name(ping.check(Self.time(32))) == "fine")
        #expect(Self.name(ping.check(Self.time(33))) == "dead")
    }

    /// Otherwise a program that sends a request each few seconds would never be told that the server has gone.
    @Test func requestsThatOnlyFillTheSocketDoNotExtendTheTimeOfAPing() {
        var ping = KeepAlivePing(Self.time(1))
        _ = ping.settingsWereAcknowledged(Self.time(1))
        ping.pingWasSent(Self.time(15))
        for second in 16...19 { ping.didSend(Self.time(UInt64(second))) }
        #expect(Self.name(ping.check(Self.time(20))) == "dead")
    }

    /// Other bytes may have been on their way before the check.
    @Test func aCheckEndsWithTheAnswerToItsOwnPing() {
        var ping = KeepAlivePing(Self.time(1))
        _ = ping.settingsWereAcknowledged(Self.time(1))
        let first = ping.beginCheck(Self.time(2))
        let second = ping.beginCheck(Self.time(3))
        #expect(ping.isChecking && first != second)
        ping.didReceive(Self.time(4))
        let answers = [KeepAlivePing.livenessPing, KeepAlivePing.windowPing, first].map { ping.pingWasAnswered($0) }
        #expect(answers == [false, false, false] && ping.isChecking && ping.awaitsAnswer)
        // Without an answer it is asked as any other, and given up.
        #expect(Self.name(ping.check(Self.time(9))) == "ask")
        #expect(ping.pingWasAnswered(second) && !ping.isChecking && !ping.pingWasAnswered(second))
        #expect(!ping.awaitsAnswer)
    }

    /// RFC 9113 §6.5.3.
    @Test func settingsHaveToBeAcknowledged() {
        var ping = KeepAlivePing(Self.time(1))
        ping.didReceive(Self.time(30))
        #expect(ping.awaitsAnswer)
        #expect(Self.name(ping.check(Self.time(30))) == "fine")
        #expect(Self.name(ping.check(Self.time(31))) == "dead")
        let first = ping.settingsWereAcknowledged(Self.time(3))
        let second = ping.settingsWereAcknowledged(Self.time(4))
        #expect(first == 2 * Self.second && second == nil)
        #expect(Self.name(ping.check(Self.time(31))) == "fine")
    }

    /// A connection is looked at when something may be the matter, and never in a tight loop.
    @Test func looksAreAsRareAsTheyCanBe() {
        var ping = KeepAlivePing(Self.time(10))
        #expect(ping.nextCheck(Self.time(10)) == Self.time(15))
        ping.pingWasSent(Self.time(12))
        #expect(ping.nextCheck(Self.time(12)) == Self.time(17))
        #expect(ping.nextCheck(Self.time(20)) > Self.time(20))
        ping.noteUnacknowledged(0, Self.time(17))
        #expect(ping.nextCheck(Self.time(17)) == Self.time(22) && ping.awaitsAnswer)
    }
}
