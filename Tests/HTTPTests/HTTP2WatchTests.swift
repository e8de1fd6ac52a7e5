import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

/// When a connection is asked whether it is still there, and when it is given up.
@Suite struct HTTP2WatchTests {
    private static let second: UInt64 = 1_000_000_000
    private static func time(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * second) }

    private static func name(_ verdict: HTTP2Watch.Verdict) -> String {
        switch verdict {
        case .fine: "fine"
        case .ask: "ask"
        case .dead: "dead"
        }
    }

    @Test func aQuietConnectionIsAskedAndThenGivenUp() {
        var watch = HTTP2Watch(Self.time(1))
        _ = watch.settingsAcknowledged(Self.time(1))
        watch.received(Self.time(10))
        #expect(Self.name(watch.look(Self.time(14))) == "fine" && !watch.asksBeforeUse(Self.time(14)))
        #expect(Self.name(watch.look(Self.time(15))) == "ask" && watch.asksBeforeUse(Self.time(15)))
        watch.asked(Self.time(15))
        #expect(watch.awaitsAnswer && !watch.asksBeforeUse(Self.time(16)))
        #expect(Self.name(watch.look(Self.time(19))) == "fine")
        #expect(Self.name(watch.look(Self.time(20))) == "dead")
        // Whatever comes is an answer.
        watch.received(Self.time(19))
        #expect(Self.name(watch.look(Self.time(20))) == "fine" && !watch.awaitsAnswer)
    }

    /// RFC 9113 §6.5.3.
    @Test func settingsHaveToBeAcknowledged() {
        var watch = HTTP2Watch(Self.time(1))
        watch.received(Self.time(30))
        #expect(watch.awaitsAnswer)
        #expect(Self.name(watch.look(Self.time(30))) == "fine")
        #expect(Self.name(watch.look(Self.time(31))) == "dead")
        let first = watch.settingsAcknowledged(Self.time(3))
        let second = watch.settingsAcknowledged(Self.time(4))
        #expect(first == 2 * Self.second && second == nil)
        #expect(Self.name(watch.look(Self.time(31))) == "fine")
    }

    @Test func anOldConnectionTakesNoMore() {
        let watch = HTTP2Watch(Self.time(1))
        #expect(!watch.isOld(Self.time(3600)) && watch.isOld(Self.time(3602)))
    }

    /// A connection is looked at when something may be the matter, and never in a tight loop.
    @Test func looksAreAsRareAsTheyCanBe() {
        var watch = HTTP2Watch(Self.time(10))
        #expect(watch.nextLook(Self.time(10)) == Self.time(15))
        watch.asked(Self.time(12))
        #expect(watch.nextLook(Self.time(12)) == Self.time(17))
        #expect(watch.nextLook(Self.time(20)) > Self.time(20))
    }
}
