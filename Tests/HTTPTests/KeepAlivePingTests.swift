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
    }
}
