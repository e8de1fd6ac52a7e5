import Foundation
import LoadingKitCore
import LoadingKitHAR
import LoadingKitPrimitives

/// A load of the program, as the inspector knows it.
struct LiveLoad {
    private enum State: String {
        case waiting, active, held, done, failed
    }

    /// A decision about the load, as a message has it.
    struct Decision {
        let kind: SessionEventKind
        let text: String
        let time: MonotonicTime
    }

    private static let mostDecisions = 100

    private(set) var notes: LoadNotes
    private(set) var connection: UInt32 = 0
    private(set) var decisions: [Decision] = []
    var isHeld = false
    private var isActive = false

    init(_ notes: LoadNotes) {
        self.notes = notes
        isActive = notes.response != nil
    }

    var id: String { String(notes.number) }

    private var session: Int { notes.session.number }

    mutating func update(_ notes: LoadNotes) {
        self.notes = notes
        if notes.response != nil { isActive = true }
    }

    mutating func omitBodies() { notes.omitBodies() }

    mutating func requestBegan(on connection: UInt32) {
        self.connection = connection
        isActive = true
    }

    /// The first ones are kept: they say why the load took its way.
    mutating func add(_ decision: Decision) -> Bool {
        guard decisions.count < Self.mostDecisions else { return false }
        decisions.append(decision)
        return true
    }

    private var state: State {
        switch notes.result {
        case .success: .done
        case .failure: .failed
        case nil: isHeld ? .held : isActive ? .active : .waiting
        }
    }

    /// The load's entries as messages: one for each request that was sent.
    func entries(_ rules: HARRules, _ anchor: WallClockAnchor) -> [JSONValue] {
        let entries = EntryMaker(notes, rules, anchor).entries()
        return entries.enumerated().map { index, entry in
            let isLast = index == entries.count - 1
            var entry = entry
            entry.others["_id"] = .string(isLast ? id : "\(id)-\(index + 1)")
            entry.others["_session"] = .string(String(session))
            entry.others["_task"] = .integer(Int64(notes.task))
            entry.others["_state"] = .string(isLast ? state.rawValue : State.done.rawValue)
            if isLast, connection > 0 { entry.others["_connectionId"] = .string("\(session).\(connection)") }
            return ["type": "entry", "entry": entry.value]
        }
    }

    /// The load's decisions as messages.
    func messages(of decisions: some Sequence<Decision>, _ anchor: WallClockAnchor) -> [JSONValue] {
        decisions.map { decision in
            [
                "type": "decision", "entry": .string(id), "session": .string(String(session)),
                "kind": .string(decision.kind.rawValue), "text": .string(decision.text),
                "time": .number(anchor.date(of: decision.time).timeIntervalSince1970 * 1000),
            ]
        }
    }
}
