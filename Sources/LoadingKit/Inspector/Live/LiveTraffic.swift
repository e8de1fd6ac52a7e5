import DequeModule
import LoadingKitCore
import LoadingKitHAR

/// The traffic of a program's sessions as far as it is kept, and the messages about it for the page. Confined to the
/// inspector's event loop.
struct LiveTraffic {
    private struct TaskKey: Hashable {
        let session: SessionIdentity
        let task: Int
    }

    private struct ConnectionKey: Hashable {
        let session: SessionIdentity
        let connection: UInt32
    }

    /// The loads that are kept: the last ones, without the bodies of the earliest where there are too many bytes.
    private static let mostLoads = 10_000
    private static let mostBodyBytes = 64 << 20
    private static let mostConnections = 1_000
    private static let mostSessions = 1_000

    private let rules: HARRules
    private var sessions: [SessionIdentity: String] = [:]
    private var sessionOrder: Deque<SessionIdentity> = []
    private var loads: [Int: LiveLoad] = [:]
    /// The numbers of loads, the earliest first.
    private var order: Deque<Int> = []
    private var bodyBytes = 0
    /// The loads whose bodies were not released.
    private var withBodies: Deque<(number: Int, size: Int)> = []
    private var current: [TaskKey: Int] = [:]
    private var connections: [ConnectionKey: LiveConnection] = [:]
    private var connectionOrder: Deque<ConnectionKey> = []
    private var held: [Int: HeldLoad] = [:]

    // The changes since the last messages.
    private var changedLoads: Set<Int> = []
    private var changedConnections: Set<ConnectionKey> = []
    private var news: [JSONValue] = []

    init(_ rules: HARRules) { self.rules = rules }

    // MARK: Inputs

    mutating func receive(_ sessions: [TrafficInbox.Session]) {
        for session in sessions {
            self.sessions[session.identity] = session.name
            sessionOrder.append(session.identity)
            news.append(Self.message(of: session.identity, session.name))
        }
        while sessionOrder.count > Self.mostSessions, let first = sessionOrder.popFirst() {
            self.sessions[first] = nil
        }
    }

    mutating func receive(_ inputs: [TrafficInput], isMissing: Bool, _ anchor: WallClockAnchor) {
        if isMissing { news.append(["type": "gap"]) }
        for input in inputs {
            switch input {
            case .load(let load): receive(load.notes)
            case .event(let session, let record, let detail): receive(session, record, detail, anchor)
            case .connections(let session, let states): receive(session, states)
            case .held(let load): hold(load)
            case .released(let load): release(load)
            }
        }
        forget()
    }

    private mutating func receive(_ notes: LoadNotes) {
        if loads[notes.number] == nil {
            loads[notes.number] = LiveLoad(notes)
            order.append(notes.number)
        } else {
            loads[notes.number]?.update(notes)
        }
        let key = TaskKey(session: notes.session, task: notes.task)
        current[key] = notes.number
        changedLoads.insert(notes.number)
        guard notes.result != nil, notes.size > 0 else { return }
        withBodies.append((notes.number, notes.size))
        bodyBytes += notes.size
    }

    private mutating func receive(
        _ session: SessionIdentity, _ record: SessionEventRecord, _ detail: String, _ anchor: WallClockAnchor
    ) {
        if record.connection > 0 { receive(record, detail, ofConnectionIn: session) }
        let key = TaskKey(session: session, task: Int(record.task))
        switch record.event {
        case .requestBegan:
            guard let load = current[key] else { return }
            loads[load]?.requestBegan(on: record.connection)
            changedLoads.insert(load)
        case .taskSucceeded, .taskFailed: current[key] = nil
        case .taskBegan, .loadBegan, .responded, .connect, .connectionOpened, .connectionClosed: break
        case .cache, .cookiesSent, .cookieStored, .cookieRefused, .queued, .retried, .redirected, .challenged,
            .challengeAnswered, .connectionFailed:
            let text = record.event.text + (detail.isEmpty ? "" : " (\(detail))")
            let decision = LiveLoad.Decision(kind: record.event.kind, text: text, time: record.time)
            guard let load = current[key], loads[load]?.add(decision) == true else { return }
            news += loads[load]?.messages(of: [decision], anchor) ?? []
        }
    }

    private mutating func receive(
        _ record: SessionEventRecord, _ detail: String, ofConnectionIn session: SessionIdentity
    ) {
        let id = ConnectionKey(session: session, connection: record.connection)
        if connections[id] == nil { add(record.connection, id) }
        if connections[id]?.note(record.event, detail) == true { changedConnections.insert(id) }
    }

    private mutating func add(_ number: UInt32, _ id: ConnectionKey) {
        connections[id] = LiveConnection(number, session: id.session.number)
        connectionOrder.append(id)
    }

    private mutating func receive(_ session: SessionIdentity, _ states: [ConnectionState]) {
        for state in states {
            let id = ConnectionKey(session: session, connection: state.number)
            if connections[id] == nil { add(state.number, id) }
            let hasChanged = connections[id]?.note(state) { [current] task in
                current[TaskKey(session: session, task: task)].map { String($0) } ?? ""
            }
            guard hasChanged == true else { continue }
            changedConnections.insert(id)
        }
    }

    /// Inputs were dropped, and those about held loads may be among them.
    ///
    /// - Parameter loads: the loads that are held now, by their numbers.
    mutating func correctHeld(_ loads: [Int: HeldLoad]) {
        for load in held.values.filter({ loads[$0.number] == nil }) { release(load) }
        for load in loads.values.sorted(by: { $0.number < $1.number }) { hold(load) }
    }

    /// The input about a load may come after ``correctHeld(_:)`` has found the load.
    private mutating func hold(_ load: HeldLoad) {
        guard held.updateValue(load, forKey: load.number) == nil else { return }
        setHeld(load, true)
        news.append(load.message(entry: entry(of: load)))
    }

    private mutating func release(_ load: HeldLoad) {
        guard held.removeValue(forKey: load.number) != nil else { return }
        setHeld(load, false)
        news.append(["type": "released", "id": .string(String(load.number))])
    }

    private mutating func setHeld(_ load: HeldLoad, _ isHeld: Bool) {
        guard let number = current[TaskKey(session: load.session, task: load.task)] else { return }
        loads[number]?.isHeld = isHeld
        changedLoads.insert(number)
    }

    private func entry(of load: HeldLoad) -> String {
        current[TaskKey(session: load.session, task: load.task)].map { String($0) } ?? ""
    }

    /// Releases what is beyond the limits, the earliest first.
    private mutating func forget() {
        while bodyBytes > Self.mostBodyBytes, let first = withBodies.popFirst() {
            bodyBytes -= first.size
            loads[first.number]?.omitBodies()
        }
        while order.count > Self.mostLoads, let first = order.popFirst() {
            if let notes = loads.removeValue(forKey: first)?.notes {
                let key = TaskKey(session: notes.session, task: notes.task)
                if current[key] == first { current[key] = nil }
            }
            changedLoads.remove(first)
        }
        while connectionOrder.count > Self.mostConnections, let first = connectionOrder.popFirst() {
            connections[first] = nil
            changedConnections.remove(first)
        }
    }

    /// Whether the session is followed.
    func knows(_ session: SessionIdentity) -> Bool { sessions[session] != nil }

    // MARK: Messages

    /// Whether something has changed since the last messages.
    var hasNews: Bool { !news.isEmpty || !changedLoads.isEmpty || !changedConnections.isEmpty }

    /// The messages about all changes since the last call, with the entries of `count` loads at most.
    mutating func takeNews(_ anchor: WallClockAnchor, atMost count: Int) -> [JSONValue] {
        defer { news = [] }
        let numbers = changedLoads.sorted().prefix(count)
        changedLoads.subtract(numbers)
        let others = changedConnections.compactMap { connections[$0]?.message }
        changedConnections = []
        // Decisions name entries, which come first.
        return numbers.flatMap { loads[$0]?.entries(rules, anchor) ?? [] } + others + news
    }

    mutating func dropNews() { (news, changedLoads, changedConnections) = ([], [], []) }

    /// All but the loads, for a page that has just connected.
    var stateMessages: [JSONValue] {
        sessionMessages + connectionOrder.compactMap { connections[$0]?.message }
    }

    private var sessionMessages: [JSONValue] {
        sessionOrder.compactMap { session in sessions[session].map { Self.message(of: session, $0) } }
    }

    private static func message(of session: SessionIdentity, _ name: String) -> JSONValue {
        ["type": "session", "id": .string(String(session.number)), "name": .string("\(name) \(session.number)")]
    }

    var heldMessages: [JSONValue] { held.values.map { $0.message(entry: entry(of: $0)) } }

    /// The numbers of the loads that are kept, the earliest first.
    var loadNumbers: [Int] { Array(order) }

    /// The entries and decisions of loads, for a page that has just connected.
    func messages(of numbers: some Sequence<Int>, _ anchor: WallClockAnchor) -> [JSONValue] {
        numbers.flatMap { number -> [JSONValue] in
            guard let load = loads[number] else { return [] }
            return load.entries(rules, anchor) + load.messages(of: load.decisions, anchor)
        }
    }
}
