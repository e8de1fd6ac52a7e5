import Foundation
import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

/// A pool in each of its states, and each of its inputs.
enum PoolTable {
    typealias Pool = HTTPConnectionPool

    struct State: Sendable {
        let name: String
        let make: @Sendable () throws -> PoolModel
    }

    struct Input: Sendable {
        let name: String
        let give: @Sendable (inout PoolModel) throws -> Void
    }

    private static func model(
        limit: Int = 2, isSecure: Bool = true, isForUpgrade: Bool = false, startsWithHTTP2: Bool = false,
        _ prepare: (inout PoolModel) throws -> Void = { _ in }
    ) throws -> PoolModel {
        var configuration = Pool.Configuration()
        configuration.limit = limit
        configuration.isSecure = isSecure
        configuration.isForUpgrade = isForUpgrade
        configuration.mayUpgradeStreams = isForUpgrade
        configuration.startsWithHTTP2 = startsWithHTTP2
        var model = PoolModel(configuration)
        try prepare(&model)
        return model
    }

    private static func request(_ model: inout PoolModel, isFresh: Bool = false) -> Pool.Request {
        let id = model.makeID()
        return Pool.Request(
            id: id, number: UInt64(id.generation), needsFreshConnection: isFresh, goesFirst: isFresh,
            allowsPipelining: true, mayBeSentAhead: true)
    }

    private static func submit(_ model: inout PoolModel, _ count: Int = 1) throws {
        for _ in 0..<count { _ = try model.submit(request(&model)) }
        if model.willServeQueue { try model.serveQueue() }
    }

    private static func open(_ model: inout PoolModel, capacity: Int? = nil, awaitsServer: Bool = false) throws {
        if let attempt = model.attempts.keys.min() {
            try model.open(attempt, capacity: capacity, awaitsServer: awaitsServer)
        }
    }

    static let states = [
        State(name: "undetermined, empty") { try model() },
        State(name: "undetermined, an attempt and two requests") { try model { try submit(&$0, 2) } },
        State(name: "http1, empty") { try model(isSecure: false) },
        State(name: "http1, an attempt") { try model(isSecure: false) { try submit(&$0) } },
        State(name: "http1, two attempts and three requests") { try model(isSecure: false) { try submit(&$0, 3) } },
        State(name: "http1, an attempt that challenges") {
            try model(isSecure: false) {
                try submit(&$0)
                try $0.challenge(1)
            }
        },
        State(name: "http1, active") {
            try model(isSecure: false) {
                try submit(&$0)
                try open(&$0)
            }
        },
        State(name: "http1, idle") {
            try model(isSecure: false) {
                try submit(&$0)
                try open(&$0)
                try $0.becomeIdle($0.actives[0], .none, seconds: 50)
            }
        },
        State(name: "http1, all active and two requests") {
            try model(isSecure: false) {
                try submit(&$0, 4)
                try open(&$0)
                try open(&$0)
            }
        },
        State(name: "http2, no connection") { try model(isSecure: false, startsWithHTTP2: true) },
        State(name: "http2, idle") {
            try model {
                try submit(&$0)
                try open(&$0, capacity: 2)
                try $0.change($0.multiplexed[0], ending: 1, capacity: 2)
            }
        },
        State(name: "http2, full, an attempt and a request") {
            try model {
                try submit(&$0, 3)
                try open(&$0, capacity: 2)
            }
        },
        State(name: "http2 for an upgrade, awaits the server") {
            try model(isForUpgrade: true) {
                try submit(&$0)
                try $0.fail(1, .speaksNoneOffered)
                try open(&$0, capacity: 2, awaitsServer: true)
            }
        },
        State(name: "pausing") {
            try model {
                try submit(&$0)
                try open(&$0, capacity: 1)
                try $0.refuse()
                _ = try $0.goAway($0.multiplexed[0], unprocessed: 1)
                try submit(&$0)
            }
        },
        State(name: "http2, pausing with streams, a request") {
            try model {
                try submit(&$0)
                try open(&$0, capacity: 2)
                try $0.refuseStream()
                try $0.change($0.multiplexed[0], ending: 1, capacity: 2)
                try submit(&$0)
            }
        },
        State(name: "closing, active") {
            try model(isSecure: false) {
                try submit(&$0)
                try open(&$0)
                try $0.run { $0.sessionDidEnd(now: $1) }
            }
        },
    ]

    static let inputs = [
        Input(name: "submit") { _ = try $0.submit(request(&$0)) },
        Input(name: "submit, to a fresh connection") { _ = try $0.submit(request(&$0, isFresh: true)) },
        Input(name: "withdraw") { model in
            let first = model.waiting.keys.min { $0.generation < $1.generation }
            try model.withdraw(first ?? model.makeID())
        },
        Input(name: "serve the queue") { try $0.serveQueue() },
        Input(name: "open HTTP/1.1") {
            if let attempt = $0.attempts.keys.min() { try $0.open(attempt, capacity: nil) }
        },
        Input(name: "open HTTP/2") { if let attempt = $0.attempts.keys.min() { try $0.open(attempt, capacity: 1) } },
        Input(name: "adopt HTTP/1.1") { if $0.pool.isUnused { try $0.open(nil, capacity: nil) } },
        Input(name: "attempt failed") { try $0.fail($0.attempts.keys.min() ?? -1, .other) },
        Input(name: "attempt reached no server") { try $0.fail($0.attempts.keys.min() ?? -1, .unreachable) },
        Input(name: "attempt timed out") { try $0.fail($0.attempts.keys.min() ?? -1, .timedOut) },
        Input(name: "attempt speaks none offered") { try $0.fail($0.attempts.keys.min() ?? -1, .speaksNoneOffered) },
        Input(name: "attempt challenges") { if let attempt = $0.attempts.keys.min() { try $0.challenge(attempt) } },
        Input(name: "challenge ended") { if let attempt = $0.held.min() { try $0.endChallenge(attempt) } },
        Input(name: "connection became idle") {
            if let connection = $0.actives.first { try $0.becomeIdle(connection, .none, seconds: 50) }
        },
        Input(name: "connection became idle, spent") {
            if let connection = $0.actives.first { try $0.becomeIdle(connection, .spent, seconds: 50) }
        },
        Input(name: "connection became idle after an hour") {
            $0.now = $0.now.advanced(bySeconds: 3600)
            if let connection = $0.actives.first { try $0.becomeIdle(connection, .none, seconds: 50) }
        },
        Input(name: "connection closed") { model in
            let connection = (model.actives + model.idles + model.multiplexed).first
            try model.close(connection ?? model.makeID())
        },
        Input(name: "stream ended") {
            if let connection = $0.multiplexed.first { try $0.change(connection, ending: 1, capacity: 2) }
        },
        Input(name: "server allows no streams") {
            if let connection = $0.multiplexed.first { try $0.change(connection, ending: 0, capacity: 0) }
        },
        Input(name: "GOAWAY") {
            if let connection = $0.multiplexed.first { _ = try $0.goAway(connection, unprocessed: 0) }
        },
        Input(name: "connection ended before settings") { model in
            let connection = model.unsettled.first
            try model.lose(connection ?? model.makeID())
        },
        Input(name: "refused") { try $0.refuse() },
        Input(name: "stream refused") { try $0.refuseStream() },
        Input(name: "pause ended") { try $0.endPause() },
        Input(name: "answered") { try $0.run { $0.connectionDidAnswer(now: $1) } },
        Input(name: "HTTP/1.1 required") { try $0.run { $0.requireHTTP1(now: $1) } },
        Input(name: "streams cannot upgrade") { try $0.run { $0.streamsCannotUpgrade(now: $1) } },
        Input(name: "a minute passed") {
            $0.now = $0.now.advanced(bySeconds: 60)
            try $0.run { $0.closeExpired(now: $1) }
        },
        Input(name: "last request first") { model in
            let last = model.waiting.values.max { $0.number < $1.number }
            if let last { try model.changePriority(of: last.id, to: 1) }
        },
        Input(name: "retire all") { try $0.retireAll() },
        Input(name: "networks changed") { try $0.changeNetworks(stale: []) },
        Input(name: "networks and routes changed") {
            try $0.changeNetworks(stale: $0.actives + $0.idles + $0.multiplexed)
        },
        Input(name: "session ended") { try $0.run { $0.sessionDidEnd(now: $1) } },
        Input(name: "send ahead") { try $0.sendAhead(room: 1) },
        Input(name: "make room") { try $0.run { $0.makeRoom(now: $1) } },
        Input(name: "use room") { try $0.run { $0.useRoom(now: $1) } },
    ]

    /// The result of an input in a state, in one line: the actions, and the state after it.
    static func row(_ state: State, _ input: Input) throws -> String {
        var model = try state.make()
        model.forgetLog()
        try input.give(&model)
        let actions = model.log.isEmpty ? "-" : model.log.joined(separator: ", ")
        return "\(input.name): \(actions) | \(model.pool)"
    }

    /// Writes ``expected`` anew into its file, for ``HTTPConnectionPoolTests``.
    static func write(_ rows: [String], beside file: String = #filePath) throws {
        let file = URL(fileURLWithPath: file).deletingLastPathComponent().appending(path: "PoolTable+Expected.swift")
        let quotes = "\"\"\"\n"
        let head = try #require(String(contentsOf: file, encoding: .utf8).components(separatedBy: quotes).first)
        let lines = rows.map { "        \($0)\n" }.joined()
        try (head + quotes + lines + "        " + quotes + "}\n").write(to: file, atomically: true, encoding: .utf8)
    }

    static func rows() throws -> [String] {
        try states.flatMap { state in
            try ["## \(state.name)"] + inputs.map { try row(state, $0) }
        }
    }
}
