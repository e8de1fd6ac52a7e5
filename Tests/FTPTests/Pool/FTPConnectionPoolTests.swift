import Foundation
import TestSupport
import Testing

@testable import LoadingKitFTPHandler

/// Each input of a pool in each of its states, and random inputs against invariants.
@Suite struct FTPConnectionPoolTests {
    private typealias Model = FTPPoolModel

    // MARK: Every input in every state

    private static let inputs: [(name: String, give: @Sendable (inout FTPPoolModel) throws -> Void)] = [
        ("ada", { try $0.submit(Model.key("ada")) }),
        ("bob", { try $0.submit(Model.key("bob")) }),
        ("ada, not on a used one", { try $0.submit(Model.key("ada"), needsFresh: true) }),
        ("withdrawn", { if let request = $0.waiting.first { try $0.withdraw(request) } }),
        ("ready again", { if let id = $0.actives.first { try $0.becomeIdle(id) } }),
        ("closed in use", { if let id = $0.actives.first { try $0.close(id) } }),
        ("closed while idle", { if let id = $0.idles.first { try $0.close(id) } }),
        ("found to be closed", { try $0.findReusedUnusable() }),
        ("serve", { try $0.serve() }),
    ]

    /// How a pool with two places comes into each state, from one that is empty.
    private static let states = [
        [], ["ada"], ["ada", "ready again"], ["ada", "bob", "ready again"], ["ada", "ready again", "ada"],
        ["ada", "bob", "ready again", "ready again"], ["ada", "bob"], ["ada", "bob", "bob", "ada"],
        ["ada", "ada", "bob", "closed in use"], ["ada", "ada", "ada, not on a used one"],
    ]

    /// With `LOADINGKIT_WRITE_FTP_POOL_TABLE` in the environment the table is written anew, and not compared.
    @Test func everyInputInEveryState() throws {
        var rows: [String] = []
        for state in Self.states {
            for (name, give) in Self.inputs {
                var model = Model(limit: 2)
                for step in state { try Self.inputs.first { $0.name == step }?.give(&model) }
                model.forgetLog()
                try give(&model)
                let (way, actions) = (state.joined(separator: "; "), model.log.joined(separator: ", "))
                rows.append("\(way) | \(name) | \(actions) | \(model.pool)")
            }
        }
        if ProcessInfo.processInfo.environment["LOADINGKIT_WRITE_FTP_POOL_TABLE"] != nil {
            let text =
                "/// state | input | actions | next state\nenum FTPPoolTable {\n    static let expected = #\"\"\"\n"
                + rows.map { "        \($0)\n" }.joined() + "        \"\"\"#\n}\n"
            let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            return try text.write(
                to: folder.appendingPathComponent("FTPPoolTable.swift"), atomically: true, encoding: .utf8)
        }
        let expected = FTPPoolTable.expected.split(separator: "\n").map(String.init)
        #expect(rows.count == expected.count)
        for (row, expected) in zip(rows, expected) { #expect(row == expected) }
    }

    // MARK: Single rules

    @Test func theConnectionThatWasUsedLastIsTaken() throws {
        var model = Model(limit: 2)
        for _ in 0..<2 { try model.submit(Model.key("ada")) }
        for id in [2, 1] as [UInt64] { try model.becomeIdle(id) }
        try model.submit(Model.key("ada"))
        #expect(model.log == ["reuse 1 for 3"])
    }

    @Test func theOneThatHasBeenIdleForLongestGoesForAnotherUser() throws {
        var model = Model(limit: 2)
        for _ in 0..<2 { try model.submit(Model.key("ada")) }
        for id in [2, 1] as [UInt64] { try model.becomeIdle(id) }
        try model.submit(Model.key("bob"))
        #expect(model.log == ["close 2", "open 3"])
    }

    /// A load whose connection was of no use makes another one before those that wait have their turn.
    @Test func aPlaceIsForTheLoadThatGaveItUp() throws {
        var model = Model(limit: 1)
        for _ in 0..<2 { try model.submit(Model.key("ada")) }
        try model.close(1)
        try model.submit(Model.key("ada"), needsFresh: true)
        #expect(model.log == ["open 3"])
        try model.serve()
        #expect(model.log == [])
        try model.becomeIdle(3)
        #expect(model.log == ["2 waits no more", "reuse 3 for 2"])
    }

    /// A place is free, and the loads that wait have not had their turn yet.
    @Test func aNewLoadDoesNotOvertakeThoseThatWait() throws {
        var model = Model(limit: 1)
        for _ in 0..<2 { try model.submit(Model.key("ada")) }
        try model.close(1)
        try model.submit(Model.key("ada"))
        #expect(model.log == ["3 waits"])
        try model.serve()
        #expect(model.log == ["2 waits no more", "open 2"])
    }

    /// The connection that it was given is of no use: it makes another one before those that wait have their turn.
    @Test func aLoadWhoseIdleConnectionWasLostKeepsItsPlace() throws {
        var model = Model(limit: 1)
        for _ in 0..<3 { try model.submit(Model.key("ada")) }
        try model.becomeIdle(1)
        #expect(model.log == ["2 waits no more", "reuse 1 for 2"])
        try model.findReusedUnusable()
        #expect(model.log == ["open 2"])
    }

    @Test func priorityDecidesBeforeAge() throws {
        var model = Model(limit: 1)
        for priority in [0.5, 0.1, 0.5, 0.5, 0.9] as [Float] { try model.submit(Model.key("ada"), priority: priority) }
        let third = try #require(model.waiting.first { $0.load == 3 })
        try model.changePriority(of: third, to: 1)
        try model.submit(Model.key("ada"), needsFresh: true, priority: 0)
        var order: [FTPConnectionPool.LoadID] = []
        while let id = model.actives.first {
            if let load = model.connections[id]?.load { order.append(load) }
            try model.becomeIdle(id)
        }
        #expect(order == [1, 6, 3, 5, 4, 2])
    }

    @Test func whatIsNotKnownChangesNothing() {
        var pool = FTPConnectionPool(limit: 1)
        pool.changePriority(of: 7, to: 1)
        pool.withdraw(7)
        pool.connectionDidClose(7)
        #expect(pool.connectionDidBecomeIdle(7) == [])
        #expect(pool.serve() == [])
        #expect(pool.isUnused)
    }

    // MARK: Random inputs

    @Test("no load is lost, or waits while something is free", arguments: 0..<6 as Range<UInt64>)
    func randomInputs(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let keys = try ["ada", "bob", "eve"].map { try Model.key($0) }
        for _ in 0..<40 {
            var model = Model(limit: Int.random(in: 0...3, using: &generator))
            for _ in 0..<200 {
                let before = model.pool.description
                do {
                    try give(&model, keys, &generator)
                } catch {
                    Issue.record("seed \(seed): \(error), after \(model.log), from \(before)")
                    return
                }
            }
            try drain(&model)
            #expect(model.pool.isUnused)
        }
    }

    private func give(
        _ model: inout FTPPoolModel, _ keys: [FTPConnectionKey], _ generator: inout SeededGenerator
    ) throws {
        let priority = Float.random(in: 0...1, using: &generator).rounded()
        switch Int.random(in: 0..<22, using: &generator) {
        case 0..<6:
            guard let key = keys.randomElement(using: &generator) else { return }
            try model.submit(key, needsFresh: Int.random(in: 0..<4, using: &generator) == 0, priority: priority)
        case 6..<8:
            if let request = model.waiting.randomElement(using: &generator) { try model.withdraw(request) }
        case 8..<12: if let id = model.actives.randomElement(using: &generator) { try model.becomeIdle(id) }
        case 12: if let id = model.actives.randomElement(using: &generator) { try model.close(id) }
        case 13: if let id = model.idles.randomElement(using: &generator) { try model.close(id) }
        case 14: try model.findReusedUnusable()
        case 20..<22:
            guard let request = model.waiting.randomElement(using: &generator) else { return }
            try model.changePriority(of: request, to: priority)
        case 15..<19: if model.willServe { try model.serve() }
        case _: if Int.random(in: 0..<5, using: &generator) == 0 { try model.closeIdle() }
        }
    }

    /// All loads come to their end.
    private func drain(_ model: inout FTPPoolModel) throws {
        while !model.waiting.isEmpty || !model.actives.isEmpty {
            if model.willServe { try model.serve() }
            if let id = model.actives.first { try model.becomeIdle(id) }
        }
        try model.closeIdle()
    }
}
