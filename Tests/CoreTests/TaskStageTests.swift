import Foundation
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// How far a task's load has come: each input in each stage, with nothing that holds it back and while it is suspended.
@Suite struct TaskStageTests {
    private final class Handler: LoopHandler {
        func begin(_ receiver: any LoadReceiver) {}
        func end() {}
        func receiverDidBlock() {}
        func receiverDidBecomeReady() {}
    }

    private static let request = URLRequest(url: URL(fileURLWithPath: "/first"))
    private static let other = URLRequest(url: URL(fileURLWithPath: "/other"))

    /// The stages, by the inputs that lead there.
    enum Start: String, CaseIterable, Sendable {
        case new, waitingForBeginDate, preparing, postponed, waitingForNetwork, running, blocked, finished, ended

        func make(_ timer: LoopTimer) -> TaskStage {
            var stage = TaskStage()
            switch self {
            case .new: break
            case .waitingForBeginDate: _ = stage.waitForBeginDate(timer)
            case .preparing: _ = stage.prepare()
            case .postponed:
                _ = (stage.prepare(), stage.suspend(), stage.requestIsPrepared(TaskStageTests.request))
                stage.release(.suspended)
            case .waitingForNetwork:
                stage = Start.running.make(timer)
                _ = stage.waitForNetwork(with: TaskStageTests.request)
            case .running: _ = (stage.prepare(), stage.beginLoading(Handler()))
            case .blocked:
                stage = Start.running.make(timer)
                _ = stage.suspend()
                stage.release(.suspended)
            case .finished:
                stage = Start.running.make(timer)
                _ = stage.loadDidEnd(.success(()))
            case .ended: _ = stage.end()
            }
            return stage
        }
    }

    enum Input: String, CaseIterable, Sendable {
        case waitForBeginDate, prepare, requestIsPrepared, beginLoading, takePostponed, hold, suspend, flow, proceed,
            replaceLoad
        case waitForNetwork, loadDidEnd, end

        /// Gives what the stage returns.
        func apply(to stage: inout TaskStage, _ timer: LoopTimer) -> String {
            switch self {
            case .waitForBeginDate: "\(stage.waitForBeginDate(timer))"
            case .prepare: "\(stage.prepare())"
            case .requestIsPrepared: "\(stage.requestIsPrepared(TaskStageTests.other))"
            case .beginLoading: "\(stage.beginLoading(Handler()))"
            case .takePostponed: stage.takePostponed()?.url?.lastPathComponent ?? "nil"
            case .hold: "\(stage.hold(for: .undecided))"
            case .suspend: stage.suspend() == nil ? "nil" : "handler"
            case .flow: "\(stage.flow())"
            case .proceed:
                switch stage.proceed() {
                case .nothing: "nothing"
                case .proceed: "proceed"
                case .conclude(.success): "conclude"
                case .conclude(.failure): "fail"
                }
            case .replaceLoad: stage.replaceLoad(by: TaskStageTests.other) == nil ? "nil" : "handler"
            case .waitForNetwork: stage.waitForNetwork(with: TaskStageTests.other) == nil ? "nil" : "handler"
            case .loadDidEnd: "\(stage.loadDidEnd(.failure(URLError(.badURL))))"
            case .end: name(stage.end())
            }
        }
    }

    private static func name(_ step: TaskStage.Step) -> String {
        switch step {
        case .new: "new"
        case .waitingForBeginDate: "waitingForBeginDate"
        case .preparing: "preparing"
        case .postponed(let request): "postponed \(request.url?.lastPathComponent ?? "")"
        case .waitingForNetwork(let request): "waitingForNetwork \(request.url?.lastPathComponent ?? "")"
        case .loading(_, .running): "running"
        case .loading(_, .blocked): "blocked"
        case .loading(_, .finished(.success)): "finished"
        case .loading(_, .finished(.failure)): "failed"
        case .ended: "ended"
        }
    }

    /// Runs on a loop, which a timer needs.
    private static func onLoop<Value: Sendable>(_ body: @escaping @Sendable (LoopTimer) -> Value) async -> Value {
        let loop = EventLoop(name: "stages")
        defer { loop.stop() }
        return await withCheckedContinuation { continuation in
            loop.execute {
                let timer = loop.schedule(at: loop.now.advanced(bySeconds: 3600)) {}
                continuation.resume(returning: body(timer))
                timer.cancel()
            }
        }
    }

    /// What the input returns, and the stage behind it where that is another one.
    private static func outcome(_ input: Input, _ start: Start, suspended: Bool, _ timer: LoopTimer) -> String {
        var stage = start.make(timer)
        if suspended { stage.hold(for: .suspended) }
        let before = name(stage.step)
        let result = input.apply(to: &stage, timer)
        let after = name(stage.step)
        return before == after ? result : "\(result) > \(after)"
    }

    /// The outcomes in the order of `Start.allCases`.
    private static let table: [Input: [String]] = [
        .waitForBeginDate: [
            "true > waitingForBeginDate", "true", "false", "false", "false", "false", "false", "false", "false",
        ],
        .prepare: [
            "true > preparing", "true > preparing", "true", "false", "false", "false", "false", "false", "false",
        ],
        .requestIsPrepared: ["false", "false", "true", "false", "false", "false", "false", "false", "false"],
        .beginLoading: ["false", "false", "true > running", "false", "false", "false", "false", "false", "false"],
        .takePostponed: [
            "nil", "nil", "nil", "first > preparing", "first > preparing", "nil", "nil", "nil", "nil",
        ],
        .hold: ["()", "()", "()", "()", "()", "()", "()", "()", "()"],
        .suspend: ["nil", "nil", "nil", "nil", "nil", "handler > blocked", "nil", "nil", "nil"],
        .flow: ["more", "more", "more", "more", "more", "more", "more", "more", "wait"],
        .proceed: [
            "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "proceed > running", "conclude",
            "nothing",
        ],
        .replaceLoad: [
            "nil", "nil", "nil", "nil", "nil", "handler > postponed other", "handler > postponed other",
            "handler > postponed other", "nil",
        ],
        .waitForNetwork: [
            "nil", "nil", "nil", "nil", "nil", "handler > waitingForNetwork other", "handler > waitingForNetwork other",
            "nil", "nil",
        ],
        .loadDidEnd: ["false", "false", "false", "false", "false", "true > failed", "true > failed", "false", "false"],
        .end: [
            "new > ended", "waitingForBeginDate > ended", "preparing > ended", "postponed first > ended",
            "waitingForNetwork first > ended", "running > ended", "blocked > ended", "finished > ended", "ended",
        ],
    ]

    /// Where a suspended task differs.
    private static let suspendedTable: [Input: [String]] = [
        .requestIsPrepared: [
            "false", "false", "false > postponed other", "false", "false", "false", "false", "false", "false",
        ],
        .takePostponed: ["nil", "nil", "nil", "nil", "nil", "nil", "nil", "nil", "nil"],
        .flow: ["wait", "wait", "wait", "wait", "wait", "wait > blocked", "wait", "wait", "wait"],
        .proceed: [
            "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing", "nothing",
        ],
    ]

    @Test(arguments: Input.allCases, [false, true])
    func eachInputInEachStage(_ input: Input, suspended: Bool) async throws {
        let found = await Self.onLoop { timer in
            Start.allCases.map { Self.outcome(input, $0, suspended: suspended, timer) }
        }
        let expected = try #require(suspended ? Self.suspendedTable[input] ?? Self.table[input] : Self.table[input])
        for (index, start) in Start.allCases.enumerated() {
            #expect(found[index] == expected[index], "\(input) in \(start)")
        }
    }

    /// A handler that reports two ends breaks its contract: the first one is reported.
    @Test func theFirstEndCounts() async {
        let outcomes = await Self.onLoop { timer in
            var stage = Start.finished.make(timer)
            let failure = Input.loadDidEnd.apply(to: &stage, timer)
            let wait = Input.waitForNetwork.apply(to: &stage, timer)
            return [failure, wait, Input.proceed.apply(to: &stage, timer)]
        }
        #expect(outcomes == ["false", "nil", "conclude"])
    }

    /// A delegate may answer when the load has ended.
    @Test func oneStageHasSucceeded() async {
        let found = await Self.onLoop { timer -> [Bool] in
            var failed = Start.running.make(timer)
            _ = failed.loadDidEnd(.failure(URLError(.badURL)))
            return Start.allCases.map { $0.make(timer).hasSucceeded == ($0 == .finished) } + [!failed.hasSucceeded]
        }
        #expect(found.allSatisfy { $0 })
    }

    /// A new load decides anew: what the delegate had to decide about the last is void, and so is its end.
    @Test func anotherLoadAwaitsNoDecision() async {
        let holds = await Self.onLoop { timer in
            var stage = Start.running.make(timer)
            stage.hold(for: .undecided)
            stage.hold(for: .completing)
            stage.hold(for: .behind)
            _ = stage.replaceLoad(by: Self.other)
            return stage.hold
        }
        #expect(holds == .behind)
    }

    /// A load may fail while the delegate decides about its redirect: another load replaces it all the same.
    @Test func aLoadThatHasFailedMeanwhileIsReplaced() async {
        let outcomes = await Self.onLoop { timer in
            var stage = Start.running.make(timer)
            stage.hold(for: .undecided)
            var outcomes = [Input.loadDidEnd, .proceed].map { $0.apply(to: &stage, timer) }
            stage.release(.undecided)
            outcomes += [Input.replaceLoad, .proceed, .takePostponed].map { $0.apply(to: &stage, timer) }
            return outcomes
        }
        #expect(outcomes == ["true", "nothing", "handler", "nothing", "other"])
    }

    /// Whatever comes in whatever order, what has ended stays so, and nothing is delivered then or while it is held.
    @Test(arguments: 0..<50 as Range<UInt64>) func invariants(seed: UInt64) async {
        let broken = await Self.onLoop { timer -> [String] in
            var generator = SeededGenerator(seed: seed)
            var (stage, broken, inputs) = (TaskStage(), [String](), [String]())
            for _ in 0..<200 {
                let wasOver = stage.isOver
                let input = Input.allCases.filter { $0 != .end }.randomElement(using: &generator) ?? .flow
                let isEnd = UInt8.random(in: 0..<100, using: &generator) == 0
                if Bool.random(using: &generator) { stage.release([.suspended, .undecided]) }
                let isHeld = !stage.hold.isEmpty
                let result = (isEnd ? .end : input).apply(to: &stage, timer)
                inputs.append("\(isEnd ? .end : input)")
                let isWrong =
                    wasOver && (!stage.isOver || ["true", "more", "handler", "proceed", "conclude"].contains(result))
                    || isHeld && ["more", "proceed", "conclude", "fail"].contains(result)
                    || stage.canDeliver && (stage.isOver || !stage.hold.isEmpty)
                    || stage.isLoading != (stage.handler != nil)
                if isWrong { broken.append(inputs.joined(separator: " ")) }
            }
            return broken
        }
        #expect(broken == [])
    }
}
