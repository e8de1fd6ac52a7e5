import LoadingKitPrimitives
import Testing

@testable import LoadingKitCore

@Suite struct TaskClockTests {
    private static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0).advanced(bySeconds: seconds)
    }

    private static func verdict(_ clock: inout TaskClock, _ seconds: Double) -> String {
        switch clock.check(at(seconds)) {
        case .silent(let failure): "silent: \(failure.code.rawValue)"
        case .expired(let failure): "expired: \(failure.code.rawValue)"
        case .checkAgain(let time): "look at \(time.nanoseconds / 1_000_000_000)"
        }
    }

    @Test func eachByteStartsTheIdleTimeAnew() {
        var clock = TaskClock(idle: 10, whole: 100, now: Self.at(0))
        #expect(clock.firstCheck == Self.at(10))
        clock.noteActivity(Self.at(8))
        #expect(Self.verdict(&clock, 10) == "look at 18")
        #expect(Self.verdict(&clock, 18) == "silent: -1001")
    }

    @Test func anOpenConnectionMayBeQuiet() {
        var clock = TaskClock(idle: 10, whole: 100, now: Self.at(0))
        clock.endIdleLimit()
        #expect(clock.firstCheck == Self.at(100))
        #expect(Self.verdict(&clock, 99) == "look at 100")
    }

    @Test func aClockThatRunsIsNotMovedByGoingOn() {
        var clock = TaskClock(idle: 10, whole: 0, now: Self.at(0))
        clock.proceed(Self.at(5))
        #expect(!clock.isPaused && clock.firstCheck == Self.at(10))
        clock.pause(Self.at(6))
        #expect(clock.isPaused)
        clock.proceed(Self.at(8))
        #expect(!clock.isPaused && clock.firstCheck == Self.at(18))
    }

    @Test func bytesDoNotMoveTheWholeTime() {
        var clock = TaskClock(idle: 10, whole: 15, now: Self.at(0))
        clock.noteActivity(Self.at(9))
        #expect(Self.verdict(&clock, 10) == "look at 15")
        clock.noteActivity(Self.at(14))
        #expect(Self.verdict(&clock, 15) == "expired: -1001")
    }

    @Test func theIdleTimeDoesNotRunWhileTheProgramHoldsTheLoad() {
        var clock = TaskClock(idle: 10, whole: 0, now: Self.at(0))
        clock.isHeld = true
        #expect(Self.verdict(&clock, 10) == "look at 20")
        clock.isHeld = false
        #expect(Self.verdict(&clock, 20) == "silent: -1001")
        clock.isQueued = true
        #expect(Self.verdict(&clock, 1000) == "look at 1010")
    }

    @Test func neitherTimeRunsWhileTheTaskIsSuspended() {
        var clock = TaskClock(idle: 10, whole: 20, now: Self.at(0))
        clock.pause(Self.at(5))
        clock.pause(Self.at(6))
        clock.proceed(Self.at(105))
        #expect(Self.verdict(&clock, 106) == "look at 115")
        clock.noteActivity(Self.at(114))
        #expect(Self.verdict(&clock, 119.5) == "look at 120")
        #expect(Self.verdict(&clock, 120) == "expired: -1001")
    }

    @Test func timesThatAreNotPositiveAreNoLimit() {
        var clock = TaskClock(idle: 0, whole: -1, now: Self.at(0))
        #expect(clock.firstCheck == .distantFuture)
        #expect(Self.verdict(&clock, 1e9).hasPrefix("look"))
    }
}
