import LoadingKitTransport
import Testing

@Suite struct HappyEyeballsTests {
    private typealias Input = HappyEyeballs.Input
    private typealias Action = HappyEyeballs.Action

    private struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var steps: [(Input, [Action])]

        init(_ name: String, _ steps: [(Input, [Action])]) {
            testDescription = name
            self.steps = steps
        }
    }

    private static func six(_ number: UInt64) -> IPAddress { .v6(high: 0x2001_0db8 << 32, low: number, zone: 0) }
    private static func four(_ number: UInt32) -> IPAddress { .v4(0xC000_0200 + number) }
    private static let next = Action.setAttemptTimer(HappyEyeballs.attemptDelay)

    private static let cases = [
        Case("nothing found", [(.answered(.v6, []), []), (.answered(.v4, []), [.giveUp]), (.attemptDelayPassed, [])]),
        Case(
            "IPv6 first starts at once",
            [
                (.answered(.v6, [six(1), six(2)]), [.startAttempt(six(1)), next]),
                (.answered(.v4, [four(1)]), []),
                (.attemptDelayPassed, [.startAttempt(four(1)), next]),
                (.attemptDelayPassed, [.startAttempt(six(2)), .cancelAttemptTimer]),
                (.attemptDelayPassed, []),
                (.attemptSucceeded(four(1)), [.cancelAttemptTimer, .finish(four(1))]),
                (.attemptSucceeded(six(2)), []),
                (.attemptFailed(six(1)), []),
            ]),
        Case(
            "IPv4 waits for IPv6",
            [
                (.answered(.v4, [four(1)]), [.setResolutionTimer(HappyEyeballs.resolutionDelay)]),
                (.answered(.v6, [six(1)]), [.cancelResolutionTimer, .startAttempt(six(1)), next]),
                (.attemptSucceeded(six(1)), [.cancelAttemptTimer, .finish(six(1))]),
            ]),
        Case(
            "IPv4 waits no longer than the delay",
            [
                (.answered(.v4, [four(1), four(2)]), [.setResolutionTimer(HappyEyeballs.resolutionDelay)]),
                (.resolutionDelayPassed, [.startAttempt(four(1)), next]),
                (.answered(.v6, [six(1)]), []),
                (.attemptDelayPassed, [.startAttempt(six(1)), next]),
                (.attemptDelayPassed, [.startAttempt(four(2)), .cancelAttemptTimer]),
            ]),
        Case(
            "IPv4 goes when there is no IPv6",
            [
                (.answered(.v4, [four(1)]), [.setResolutionTimer(HappyEyeballs.resolutionDelay)]),
                (.answered(.v6, []), [.cancelResolutionTimer, .startAttempt(four(1)), .cancelAttemptTimer]),
            ]),
        Case(
            "IPv4 alone, after IPv6 failed",
            [
                (.answered(.v6, []), []),
                (.answered(.v4, [four(1)]), [.startAttempt(four(1)), .cancelAttemptTimer]),
                (.attemptFailed(four(1)), [.cancelAttemptTimer, .giveUp]),
                (.attemptSucceeded(four(1)), []),
            ]),
        Case(
            "a failure starts the next at once",
            [
                (.answered(.v6, [six(1)]), [.startAttempt(six(1)), .cancelAttemptTimer]),
                (.answered(.v4, [four(1), four(2)]), [next]),
                (.attemptFailed(six(1)), [.startAttempt(four(1)), next]),
                (.attemptFailed(six(1)), []),
                (.attemptFailed(four(1)), [.startAttempt(four(2)), .cancelAttemptTimer]),
                (.attemptFailed(four(2)), [.cancelAttemptTimer, .giveUp]),
            ]),
        Case(
            "failures wait for the other family's answer",
            [
                (.answered(.v6, [six(1)]), [.startAttempt(six(1)), .cancelAttemptTimer]),
                (.attemptFailed(six(1)), []),
                (.answered(.v4, [four(1)]), [.startAttempt(four(1)), .cancelAttemptTimer]),
                (.attemptSucceeded(four(1)), [.cancelAttemptTimer, .finish(four(1))]),
            ]),
        Case(
            "failures, and then an empty answer",
            [
                (.answered(.v6, [six(1)]), [.startAttempt(six(1)), .cancelAttemptTimer]),
                (.attemptFailed(six(1)), []),
                (.answered(.v4, []), [.cancelAttemptTimer, .giveUp]),
            ]),
        Case(
            "an empty answer while an attempt runs",
            [
                (.answered(.v6, [six(1)]), [.startAttempt(six(1)), .cancelAttemptTimer]),
                (.answered(.v4, []), []),
                (.answered(.v4, [four(1)]), []),
                (.attemptFailed(six(1)), [.cancelAttemptTimer, .giveUp]),
            ]),
        Case(
            "inputs out of place are ignored",
            [
                (.attemptFailed(four(1)), []), (.attemptSucceeded(four(1)), []), (.resolutionDelayPassed, []),
                (.attemptDelayPassed, []),
                (.answered(.v4, [four(1)]), [.setResolutionTimer(HappyEyeballs.resolutionDelay)]),
                (.answered(.v4, [four(2)]), []), (.attemptDelayPassed, []), (.attemptSucceeded(four(1)), []),
                (.resolutionDelayPassed, [.startAttempt(four(1)), .cancelAttemptTimer]),
                (.resolutionDelayPassed, []), (.attemptSucceeded(four(2)), []),
            ]),
        Case(
            "families take turns as long as both have addresses",
            [
                (.answered(.v4, [four(1), four(2), four(3)]), [.setResolutionTimer(HappyEyeballs.resolutionDelay)]),
                (.answered(.v6, [six(1), six(2)]), [.cancelResolutionTimer, .startAttempt(six(1)), next]),
                (.attemptDelayPassed, [.startAttempt(four(1)), next]),
                (.attemptDelayPassed, [.startAttempt(six(2)), next]),
                (.attemptDelayPassed, [.startAttempt(four(2)), next]),
                (.attemptDelayPassed, [.startAttempt(four(3)), .cancelAttemptTimer]),
            ]),
    ]

    @Test(arguments: cases)
    private func table(_ test: Case) {
        var machine = HappyEyeballs()
        for (index, (input, expected)) in test.steps.enumerated() {
            let actions = machine.receive(input)
            #expect(actions == expected, "step \(index), \(input)")
        }
    }

    /// Whatever happens, in whatever order: every address is tried once at most, and there is one end.
    @Test(arguments: 0..<200)
    func anyOrderOfEventsEndsOnce(seed: UInt64) {
        var random = Random(seed)
        var machine = HappyEyeballs()
        var started: [IPAddress] = []
        var ends = 0
        let sixes = (0..<random.next() % 4).map { Self.six($0) }
        let fours = (0..<random.next() % 4).map { Self.four(UInt32($0)) }
        var answers: [Input] = [.answered(.v6, sixes), .answered(.v4, fours)]
        var running: [IPAddress] = []
        for _ in 0..<200 where ends == 0 {
            let input: Input
            switch random.next() % 5 {
            case 0 where !answers.isEmpty: input = answers.remove(at: Int(random.next() % UInt64(answers.count)))
            case 1: input = .attemptDelayPassed
            case 2: input = .resolutionDelayPassed
            case 3 where !running.isEmpty:
                input = .attemptFailed(running.remove(at: Int(random.next() % UInt64(running.count))))
            case 4 where !running.isEmpty && random.next() % 4 == 0: input = .attemptSucceeded(running[0])
            case _: continue
            }
            for action in machine.receive(input) {
                switch action {
                case .startAttempt(let address):
                    started.append(address)
                    running.append(address)
                case .finish(let address):
                    ends += 1
                    #expect(running.contains(address))
                case .giveUp:
                    ends += 1
                    #expect(Set(started) == Set(sixes + fours) && answers.isEmpty)
                case .setResolutionTimer, .cancelResolutionTimer, .setAttemptTimer, .cancelAttemptTimer: break
                }
            }
        }
        #expect(Set(started).count == started.count)
        #expect(ends == 1)
    }
}
