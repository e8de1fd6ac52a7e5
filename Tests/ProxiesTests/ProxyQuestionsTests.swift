import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitProxies

/// The look-ups of a resolver, as a value: one look-up for all loads that wait for it, and a limit on their number.
@Suite struct ProxyQuestionsTests {
    private static let way = Proxy(kind: .http, host: "p", port: 1, credential: nil)

    private static func origin(_ number: Int) -> ProxyTarget { ProxyTarget(.https, host: "h\(number)", port: 443) }

    private struct NoAnswer: Error {}

    /// Drives the value as the session does, and writes down what it says.
    private struct Driver {
        var questions = ProxyQuestions()
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        var asked: [ProxyQuestions.Question] = []
        var cancelled: [UInt64] = []
        var told: [UInt64: Bool] = [:]
        var known: [UInt64] = []

        mutating func ask(_ number: Int, _ waiter: UInt64) {
            switch questions.ask(ProxyQuestionsTests.origin(number), for: waiter, now: now) {
            case .known: known.append(waiter)
            case .waits(let actions): run(actions)
            }
        }

        mutating func withdraw(_ waiter: UInt64) { run(questions.withdraw(waiter)) }

        mutating func answer(_ index: Int, fails: Bool = false) {
            let answer: Result<[Proxy?], any Error> =
                fails ? .failure(ProxyQuestionsTests.NoAnswer()) : .success([ProxyQuestionsTests.way, nil])
            run(questions.didAnswer(asked[index], answer, now: now))
        }

        mutating func run(_ actions: [ProxyQuestions.Action]) {
            for action in actions {
                switch action {
                case .begin(let question): asked.append(question)
                case .cancel(let question): cancelled.append(question.number)
                case .tell(let waiters, let answer):
                    for waiter in waiters { told[waiter] = (try? answer.get()) != nil }
                }
            }
        }
    }

    @Test func manyAskOnce() {
        var driver = Driver()
        for waiter in 1...100 { driver.ask(0, UInt64(waiter)) }
        #expect(driver.asked.count == 1)
        driver.withdraw(1)
        driver.answer(0)
        #expect(driver.told.count == 99 && driver.told[1] == nil)
        driver.ask(0, 101)
        #expect(driver.known == [101] && driver.asked.count == 1)
        driver.now = driver.now.advanced(bySeconds: ProxyQuestions.lifetime)
        driver.ask(0, 102)
        #expect(driver.known == [101] && driver.asked.count == 2)
    }

    @Test func aQuestionThatNobodyWaitsForIsCancelled() {
        var driver = Driver()
        driver.ask(0, 1)
        driver.ask(0, 2)
        driver.withdraw(1)
        #expect(driver.cancelled.isEmpty)
        driver.withdraw(2)
        driver.withdraw(2)
        #expect(driver.cancelled == [driver.asked[0].number])
        // Its late answer is not that of the next question.
        driver.ask(0, 3)
        driver.answer(0)
        #expect(driver.told.isEmpty && driver.asked.count == 2)
        driver.answer(1)
        #expect(driver.told == [3: true])
    }

    @Test func soManyAreAskedAtATime() {
        var driver = Driver()
        let most = ProxyQuestions.mostAtOnce
        for number in 0..<(most + 3) { driver.ask(number, UInt64(number)) }
        #expect(driver.asked.count == most)
        // A cancelled one counts until the resolver returns.
        driver.withdraw(0)
        driver.withdraw(UInt64(most))
        #expect(driver.asked.count == most)
        driver.answer(0)
        driver.answer(1, fails: true)
        #expect(driver.asked.count == most + 2 && driver.told == [1: false])
        #expect(driver.asked.last?.target == Self.origin(most + 2))
        for index in 2..<driver.asked.count { driver.answer(index) }
        #expect(driver.questions.counts == (0, 0))
    }

    @Test func whatWasAskedBeforeAChangeIsNotRemembered() {
        var driver = Driver()
        driver.ask(0, 1)
        driver.ask(1, 2)
        driver.answer(0)
        driver.questions.forget()
        driver.answer(1)
        #expect(driver.told == [1: true, 2: true])
        driver.ask(0, 3)
        driver.ask(1, 4)
        #expect(driver.known.isEmpty && driver.asked.count == 4)
        driver.answer(2)
        driver.ask(0, 5)
        #expect(driver.known == [5])
        driver.run(driver.questions.end())
        #expect(driver.cancelled == [driver.asked[3].number])
        driver.answer(3)
        #expect(driver.told[4] == nil)
    }

    /// A load that begins after the change asks anew, while a look-up from before it still runs.
    @Test func aChangeSupersedesRunningQuestions() {
        var driver = Driver()
        for waiter: UInt64 in 1...2 { driver.ask(0, waiter) }
        driver.ask(1, 3)
        driver.questions.forget()
        driver.ask(0, 4)
        driver.ask(1, 5)
        #expect(driver.asked.count == 4)
        // A load withdraws from the look-up for which it waits.
        driver.withdraw(1)
        driver.withdraw(3)
        driver.withdraw(5)
        #expect(driver.cancelled == [driver.asked[1].number, driver.asked[3].number])
        driver.answer(0)
        #expect(driver.told == [2: true])
        driver.ask(0, 6)
        #expect(driver.known.isEmpty && driver.asked.count == 4)
        driver.answer(2)
        driver.ask(0, 7)
        #expect(driver.told == [2: true, 4: true, 6: true] && driver.known == [7])
        for index in [1, 3] { driver.answer(index) }
        #expect(driver.questions.counts == (0, 0))
        // The new look-up may be the first to end, and the end of the session cancels both.
        driver.ask(2, 8)
        driver.questions.forget()
        driver.ask(2, 9)
        driver.answer(5)
        driver.ask(3, 10)
        driver.questions.forget()
        driver.ask(3, 11)
        driver.run(driver.questions.end())
        #expect(driver.told[9] == true && driver.told[8] == nil)
        let last = [4, 6, 7].map { driver.asked[$0].number }
        #expect(driver.cancelled.dropFirst(2) == last[...])
    }

    @Test func answersAreBounded() {
        var driver = Driver()
        for number in 0..<(3 * ProxyQuestions.mostKnown) {
            driver.ask(number, UInt64(number))
            driver.answer(number)
        }
        #expect(driver.told.count == 3 * ProxyQuestions.mostKnown)
        driver.ask(0, 1_000_000)
        #expect(driver.known.isEmpty)
    }

    /// Whatever happens in whatever order, everyone that waits is told once, and no more is asked than may be.
    @Test(arguments: UInt64(1)...40) func randomInputsKeepTheRules(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = Driver()
        var waiting: Set<UInt64> = []
        var open: [Int] = []
        for step in 0..<2000 {
            let before = driver.asked.count
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                waiting.insert(UInt64(step))
                driver.ask(Int.random(in: 0..<40, using: &random), UInt64(step))
                if driver.known.last == UInt64(step) { waiting.remove(UInt64(step)) }
            case 5..<7:
                if let one = waiting.randomElement(using: &random) {
                    waiting.remove(one)
                    driver.withdraw(one)
                }
            case 7..<9:
                if let place = open.indices.randomElement(using: &random) {
                    driver.answer(open.remove(at: place), fails: Bool.random(using: &random))
                }
            case _: driver.questions.forget()
            }
            open += before..<driver.asked.count
            for one in driver.told.keys { waiting.remove(one) }
            #expect(open.count <= ProxyQuestions.mostAtOnce && driver.questions.counts == (open.count, waiting.count))
            driver.told = [:]
        }
        while !open.isEmpty {
            let before = driver.asked.count
            driver.answer(open.removeFirst())
            open += before..<driver.asked.count
        }
        #expect(driver.questions.counts == (0, 0))
    }

    /// The resolver's second answer to a question counts for nothing, and the rest of a line keeps its order.
    @Test func linesGetShorter() {
        var driver = Driver()
        for waiter: UInt64 in 0..<100 { driver.ask(0, waiter) }
        for waiter: UInt64 in 0..<98 { driver.withdraw(waiter) }
        for waiter: UInt64 in 100..<200 { driver.ask(0, waiter) }
        driver.withdraw(99)
        var order: [UInt64] = []
        for case .tell(let waiters, _) in driver.questions.didAnswer(driver.asked[0], .success([nil]), now: driver.now)
        {
            order += waiters
        }
        #expect(order == [98] + Array(100..<200))
        #expect(driver.questions.didAnswer(driver.asked[0], .success([nil]), now: driver.now).isEmpty)
        #expect(driver.questions.counts == (0, 0))
    }

    @Test func theEndCancelsInOrder() {
        var driver = Driver()
        for number in 0..<(ProxyQuestions.mostAtOnce + 3) { driver.ask(number, UInt64(number)) }
        driver.run(driver.questions.end())
        #expect(driver.cancelled == driver.asked.map(\.number))
    }

    /// Loads that come and go while the resolver is stuck leave nothing behind, and those that wait are told in their order.
    @Test func withdrawnLoadsLeaveNothing() {
        var driver = Driver()
        for number in 0..<ProxyQuestions.mostAtOnce { driver.ask(number, UInt64(number)) }
        for waiter: UInt64 in 1000..<6000 {
            driver.ask(100, waiter)
            if waiter < 5990 { driver.withdraw(waiter) }
        }
        for waiter: UInt64 in 7000..<12_000 {
            driver.ask(Int(waiter), waiter)
            driver.withdraw(waiter)
        }
        driver.answer(0)
        #expect(driver.asked.last?.target == Self.origin(100))
        var order: [UInt64] = []
        if let question = driver.asked.last {
            for case .tell(let waiters, _) in driver.questions.didAnswer(question, .success([nil]), now: driver.now) {
                order += waiters
            }
        }
        #expect(order == Array(5990..<6000))
    }
}
