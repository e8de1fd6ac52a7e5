import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

@Suite("TransferState")
struct TransferStateTests {
    private typealias Input = @Sendable (inout TransferState) -> [TransferState.Action]

    private static let error = TransferError(.networkConnectionLost, "lost")
    private static let inputs: [(String, Input)] = [
        ("suspend", { $0.suspend(canContinue: false) }),
        ("suspendPart", { $0.suspend(canContinue: true) }),
        ("resume", { $0.resume() }),
        ("cancel", { $0.cancel(error) }),
        ("stop", { $0.stopForResumeData() }),
        ("date", { $0.dateDidCome(isAttached: true) }),
        ("dateAlone", { $0.dateDidCome(isAttached: false) }),
        ("answer", { $0.programDidAnswer(mayBegin: true, error) }),
        ("refuse", { $0.programDidAnswer(mayBegin: false, error) }),
        ("detach", { $0.programDidDetach(isChallenged: true) }),
        ("attach", { $0.programDidAttach() }),
        ("turn", { $0.turnDidCome() }),
        ("broken", { $0.attemptDidFail(.broken(error), randomness: 1) }),
        ("final", { $0.attemptDidFail(.final(error), randomness: 1) }),
        ("again", { $0.attemptDidFail(.startOver, randomness: 1) }),
        ("needed", { $0.needProgram() }),
        ("paused", { $0.pauseDidEnd() }),
        ("received", { $0.attemptDidSucceed() }),
        ("placed", { $0.didComplete() }),
    ]

    /// A state of each phase, by the inputs that lead there.
    private static func states() -> [(String, TransferState)] {
        func after(_ start: TransferState, _ names: String...) -> TransferState {
            var state = start
            for name in names { _ = inputs.first { $0.0 == name }?.1(&state) }
            return state
        }
        let (delayed, queued) = (TransferState(isDelayed: true), TransferState())
        return [
            ("delayed", delayed), ("asking", after(delayed, "date")), ("queued", queued),
            ("running", after(queued, "turn")), ("backingOff", after(queued, "turn", "broken")),
            ("needsProgram", after(queued, "turn", "needed")), ("completing", after(queued, "turn", "received")),
            ("over", after(queued, "cancel")),
        ]
    }

    /// What each input does in each phase; what is not listed has no effect.
    private static let table: [String: [String: (String, String)]] = [
        "delayed": [
            "suspendPart": ("note", "delayed"),
            "cancel": ("end!", "over"), "stop": ("", "completing"), "date": ("ask", "asking"),
            "dateAlone": ("enqueue", "queued"), "suspend": ("note", "delayed"),
        ],
        "asking": [
            "suspendPart": ("note", "asking"),
            "cancel": ("end!", "over"), "stop": ("", "completing"), "answer": ("enqueue", "queued"),
            "refuse": ("end!", "over"), "detach": ("enqueue", "queued"),
            "suspend": ("note", "asking"),
        ],
        "queued": [
            "suspendPart": ("note dequeue", "queued"),
            "suspend": ("note dequeue", "queued"), "cancel": ("dequeue end!", "over"),
            "stop": ("dequeue", "completing"),
            "turn": ("start", "running"),
        ],
        "running": [
            "suspendPart": ("note stop", "queued"),
            "suspend": ("note suspend", "running"), "cancel": ("stop end!", "over"), "stop": ("stop", "completing"),
            "detach": ("stop note call", "needsProgram"), "broken": ("note pause1", "backingOff"),
            "final": ("end!", "over"), "again": ("enqueue", "queued"), "needed": ("stop note call", "needsProgram"),
            "received": ("complete", "completing"), "placed": ("end", "over"),
        ],
        "backingOff": [
            "suspendPart": ("note", "backingOff"),
            "suspend": ("note", "backingOff"), "cancel": ("end!", "over"), "stop": ("", "completing"),
            "paused": ("enqueue", "queued"),
        ],
        "needsProgram": [
            "suspendPart": ("note", "needsProgram"),
            "suspend": ("note", "needsProgram"), "cancel": ("end!", "over"), "stop": ("", "completing"),
            "attach": ("note enqueue", "queued"),
        ],
        "completing": [
            "suspendPart": ("note", "completing"),
            "suspend": ("note", "completing"), "cancel": ("stop end!", "over"), "stop": ("stop", "completing"),
            "broken": ("note pause1", "backingOff"),
            "final": ("end!", "over"), "again": ("enqueue", "queued"), "placed": ("end", "over"),
        ],
        "over": [:],
    ]

    private static func name(_ action: TransferState.Action) -> String {
        switch action {
        case .enqueue: "enqueue"
        case .dequeue: "dequeue"
        case .startAttempt: "start"
        case .stopAttempt: "stop"
        case .suspendAttempt: "suspend"
        case .resumeAttempt: "resume"
        case .askProgram: "ask"
        case .pause(let seconds): "pause\(Int(seconds))"
        case .complete: "complete"
        case .end(let error): error == nil ? "end" : "end!"
        case .note: "note"
        case .callProgram: "call"
        }
    }

    @Test("every input in every phase")
    func everyInput() {
        for (phase, state) in Self.states() {
            #expect("\(state.phase)" == phase)
            for (name, input) in Self.inputs {
                var next = state
                let actions = input(&next).map(Self.name).joined(separator: " ")
                let expected = Self.table[phase]?[name] ?? ("", phase)
                #expect(
                    actions == expected.0 && "\(next.phase)" == expected.1,
                    "\(name) in \(phase): \(actions), \(next.phase)")
            }
        }
    }

    @Test("what is suspended is not enqueued, but keeps its phase")
    func suspension() {
        var state = TransferState(isDelayed: true)
        #expect(state.suspend(canContinue: false) == [.note])
        #expect(state.suspend(canContinue: false) == [])
        #expect(state.dateDidCome(isAttached: false) == [])
        #expect(state.phase == .queued && !state.mayStart && state.turnDidCome() == [])
        #expect(state.resume() == [.note, .enqueue])
        #expect(state.turnDidCome() == [.startAttempt])
        #expect(state.suspend(canContinue: false) == [.note, .suspendAttempt])
        #expect(state.resume() == [.note, .resumeAttempt])
        #expect(state.suspend(canContinue: true) == [.note, .stopAttempt])
        #expect(state.phase == .queued && !state.mayStart)
        #expect(state.resume() == [.note, .enqueue])
    }

    @Test("pauses grow, and progress makes them short again")
    func failures() {
        var state = TransferState()
        func fail() -> [TransferState.Action] {
            _ = state.pauseDidEnd()
            _ = state.turnDidCome()
            return state.attemptDidFail(.broken(Self.error), randomness: 1)
        }
        #expect(fail() == [.note, .pause(seconds: 1)])
        #expect(fail() == [.note, .pause(seconds: 2)])
        #expect(fail() == [.note, .pause(seconds: 4)])
        state.attemptDidProgress()
        #expect(fail() == [.note, .pause(seconds: 1)])
    }

    @Test("random inputs: it ends once, and starts and stops by turns")
    func randomInputs() {
        for seed in 0..<200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var state = TransferState(isDelayed: Bool.random(using: &generator))
            var (ends, isUnderWay, isQueued) = (0, false, state.mayStart)
            for _ in 0..<200 {
                let input = Self.inputs[Int.random(in: 0..<Self.inputs.count, using: &generator)]
                if input.0 == "turn", state.mayStart { isQueued = false }
                let fails = ["broken", "final", "again"].contains(input.0) && state.isLive
                let actions = input.1(&state)
                if fails { isUnderWay = false }
                for action in actions {
                    switch action {
                    case .startAttempt:
                        #expect(!isUnderWay)
                        isUnderWay = true
                    case .stopAttempt: isUnderWay = false
                    case .enqueue:
                        #expect(!isQueued && !state.isSuspended)
                        isQueued = true
                    case .dequeue: isQueued = false
                    case .end: ends += 1
                    case .suspendAttempt, .resumeAttempt, .askProgram, .pause, .complete, .note,
                        .callProgram:
                        break
                    }
                }
                if input.0 == "placed", actions == [.end(nil)] { isUnderWay = false }
                #expect(state.mayStart == isQueued)
                #expect((state.phase == .over) == (ends == 1) && ends < 2)
                if state.phase == .running { #expect(isUnderWay) }
            }
        }
    }
}
