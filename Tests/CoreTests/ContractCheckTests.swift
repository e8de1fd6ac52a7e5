import Testing

@testable import LoadingKitCore

/// Every event of a handler in every stage of its load.
@Suite struct ContractCheckTests {
    private let events: [String: ContractCheck.Event] = [
        "response": .response, "data": .data, "redirect": .redirect, "challenge": .challenge, "withdrawn": .withdrawn,
        "cached": .cached, "end": .end(isError: false), "error": .end(isError: true),
        "returned": .returned(isError: false), "thrown": .returned(isError: true),
    ]

    private static let everyEvent: Set = [
        "response", "data", "redirect", "challenge", "withdrawn", "cached", "end", "error", "returned", "thrown",
    ]

    /// How each stage is reached; and of its events those that are dropped, and those that break a rule.
    private static let stages: [(path: [String], dropped: Set<String>, breaches: [String: Int])] = [
        ([], [], ["data": 8]),
        (["challenge", "withdrawn"], [], ["data": 8]),
        (["response"], [], [:]),
        (["data"], [], [:]),
        (["redirect"], everyEvent, ["response": 10, "data": 10, "redirect": 10, "challenge": 10, "cached": 10]),
        (["cached"], everyEvent, ["response": 10, "data": 10, "redirect": 10, "challenge": 10, "cached": 10]),
    ]
    private static let ended: [[String]] = [
        ["end"], ["error"], ["returned"], ["thrown"], ["response", "data", "end"], ["redirect", "end"],
        ["cached", "returned"],
    ]

    private func check(_ path: [String], dropped: Set<String>, breaches: [String: Int]) throws {
        for (name, event) in events {
            var check = ContractCheck()
            for step in path { _ = check.accept(try #require(events[step])) }
            let verdict = check.accept(event)
            #expect(verdict.isTaken == !dropped.contains(name), "\(name) after \(path)")
            #expect(verdict.broken?.rawValue == breaches[name], "\(name) after \(path)")
        }
    }

    @Test func everyEventInEveryStage() throws {
        #expect(Set(events.keys) == Self.everyEvent)
        for stage in Self.stages { try check(stage.path, dropped: stage.dropped, breaches: stage.breaches) }
        var breaches = Dictionary(uniqueKeysWithValues: Self.everyEvent.map { ($0, 10) })
        for name in ["returned", "thrown", "withdrawn"] { breaches[name] = nil }
        for path in Self.ended { try check(path, dropped: Self.everyEvent, breaches: breaches) }
    }

    /// What a handler gives after a load that it has not ended itself is no breach.
    @Test func theHandlersOwnEndCounts() throws {
        for path in Self.stages.map(\.path) + Self.ended {
            var check = ContractCheck()
            for step in path { _ = check.accept(try #require(events[step])) }
            #expect(
                check.isOver == (Self.ended.contains(path) || path == ["redirect"] || path == ["cached"]), "\(path)")
        }
    }

    /// A handler that does not await `receive(_:)` is reported once, and not for each piece.
    @Test func anOverlapIsNotedOnce() {
        var check = ContractCheck()
        #expect([check.noteOverlap(), check.noteOverlap()] == [true, false])
    }
}
