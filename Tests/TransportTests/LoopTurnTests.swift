import Testing

@testable import LoadingKitTransport

/// Every input in every state of a loop's turn.
@Suite struct LoopTurnTests {
    enum Input: CaseIterable {
        case threadWillWait, threadDidWake, wakeThreadForWork, wakeThreadToEnd, take
        case giveBackWithWork, giveBackWithoutWork
    }

    /// The next state, and whether the call gives true; nil for calls that give nothing.
    static let table: [LoopTurn: [Input: (LoopTurn, Bool?)]] = [
        .loopsThread: [
            .threadWillWait: (.free, nil), .threadDidWake: (.loopsThread, nil),
            .wakeThreadForWork: (.loopsThread, false), .wakeThreadToEnd: (.loopsThread, false),
            .take: (.loopsThread, false), .giveBackWithWork: (.loopsThread, false),
            .giveBackWithoutWork: (.loopsThread, false),
        ],
        .free: [
            .threadWillWait: (.free, nil), .threadDidWake: (.loopsThread, nil),
            .wakeThreadForWork: (.loopsThread, true), .wakeThreadToEnd: (.loopsThread, true),
            .take: (.borrowed, true), .giveBackWithWork: (.free, false), .giveBackWithoutWork: (.free, false),
        ],
        .borrowed: [
            .threadWillWait: (.borrowed, nil), .threadDidWake: (.awaited, nil),
            .wakeThreadForWork: (.borrowed, false), .wakeThreadToEnd: (.awaited, true),
            .take: (.borrowed, false), .giveBackWithWork: (.loopsThread, true), .giveBackWithoutWork: (.free, false),
        ],
        .awaited: [
            .threadWillWait: (.awaited, nil), .threadDidWake: (.awaited, nil),
            .wakeThreadForWork: (.awaited, false), .wakeThreadToEnd: (.awaited, false),
            .take: (.awaited, false), .giveBackWithWork: (.loopsThread, false),
            .giveBackWithoutWork: (.loopsThread, false),
        ],
    ]

    @Test(arguments: LoopTurn.allCases, Input.allCases)
    func theNextStateIsInTheTable(state: LoopTurn, input: Input) throws {
        let expected = try #require(Self.table[state]?[input])
        var turn = state
        let answer = Self.apply(input, to: &turn)
        #expect(turn == expected.0)
        #expect(answer == expected.1)
    }

    @Test func theMemoryOfMuchWorkIsNotKept() async {
        await withLoop { loop in
            let log = OnLoop<[Bool]>([])
            await loop.run {
                for _ in 0..<10_000 { loop.executeLater {} }
                loop.executeLater { log.value.append(loop.hasMuchMemory) }
            }
            // Behind all of it, and then in a turn of its own.
            await loop.run {}
            await loop.run { log.value.append(loop.hasMuchMemory) }
            #expect(await loop.run { log.value } == [true, false])
        }
    }

    private static func apply(_ input: Input, to turn: inout LoopTurn) -> Bool? {
        switch input {
        case .threadWillWait: turn.threadWillWait()
        case .threadDidWake: turn.threadDidWake()
        case .wakeThreadForWork: return turn.wakeThreadForWork()
        case .wakeThreadToEnd: return turn.wakeThreadToEnd()
        case .take: return turn.take()
        case .giveBackWithWork: return turn.giveBack(leavingWork: true)
        case .giveBackWithoutWork: return turn.giveBack(leavingWork: false)
        }
        return nil
    }
}
