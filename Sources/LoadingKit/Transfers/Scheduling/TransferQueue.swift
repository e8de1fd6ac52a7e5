import LoadingKitCore
import LoadingKitPrimitives

/// The transfers that wait for their turn, and how many are under way: says which is started next.
///
/// The highest priority goes first; among equals what the program expects to be small, as it is soon over; then what has waited
/// longest. A session has at most so many transfers started, and the
/// process: connections are limited by the sessions themselves, and what is not started costs no memory to speak of.
struct TransferQueue {
    struct Limits: Sendable {
        var perSession = 64
        var inAll = 256
    }

    /// What is expected to be no larger, in bytes, is small. The guess need not be good.
    static let smallSize: Int64 = 1 << 20

    private struct Entry {
        var priority: Float
        let isSmall: Bool
        let number: UInt64
        let identifier: Int
    }

    /// The places of the entries, so that one can be taken out.
    private struct Order: IndexedHeapOrder {
        var places: [Int: Int] = [:]

        static func precedes(_ a: Entry, _ b: Entry) -> Bool {
            if a.priority != b.priority { return a.priority > b.priority }
            return a.isSmall == b.isSmall ? a.number < b.number : a.isSmall
        }

        mutating func store(_ place: Int, of entry: Entry) {
            places[entry.identifier] = place < 0 ? nil : place
        }
    }

    private struct Session {
        var waiting = IndexedHeap<Order>()
        var started = 0
        /// Whether none may start now.
        var isHeld = false

        var isEmpty: Bool { waiting.isEmpty && started == 0 && !isHeld }

        mutating func remove(_ identifier: Int) -> Entry? {
            waiting.order.places[identifier].flatMap { waiting.remove(at: $0) }
        }
    }

    private let limits: Limits
    private var sessions: [Int64: Session] = [:]
    private(set) var started = 0
    private var lastNumber: UInt64 = 0

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// - Parameter expectedBytes: how many are to be sent and received; nil where nobody knows.
    mutating func insert(_ key: TransferKey, priority: Float, expectedBytes: Int64? = nil) {
        remove(key)
        lastNumber += 1
        let isSmall = expectedBytes.map { $0 <= Self.smallSize } ?? false
        let entry = Entry(priority: priority, isSmall: isSmall, number: lastNumber, identifier: key.identifier)
        update(key.session) { $0.waiting.insert(entry) }
    }

    /// Without effect where it does not wait.
    mutating func remove(_ key: TransferKey) { update(key.session) { _ = $0.remove(key.identifier) } }

    /// Keeps its place among those of the same priority.
    mutating func change(_ key: TransferKey, priority: Float) {
        update(key.session) { session in
            guard var entry = session.remove(key.identifier) else { return }
            entry.priority = priority
            session.waiting.insert(entry)
        }
    }

    /// The one to start now, which counts as started; nil where none may.
    mutating func popNext() -> TransferKey? {
        guard started < limits.inAll else { return nil }
        var best: (session: Int64, entry: Entry)?
        for (number, session) in sessions where !session.isHeld && session.started < limits.perSession {
            guard let first = session.waiting.first else { continue }
            if let found = best, !Order.precedes(first, found.entry) { continue }
            best = (number, first)
        }
        guard let best else { return nil }
        started += 1
        update(best.session) { session in
            _ = session.waiting.remove(at: 0)
            session.started += 1
        }
        return TransferKey(session: best.session, identifier: best.entry.identifier)
    }

    /// One that was started is not under way any more.
    mutating func didStop(_ key: TransferKey) {
        guard let count = sessions[key.session]?.started, count > 0 else { return }
        started -= 1
        update(key.session) { $0.started = count - 1 }
    }

    /// Lets a session's transfers start, or not.
    mutating func hold(_ session: Int64, _ isHeld: Bool) { update(session) { $0.isHeld = isHeld } }

    func hasWaiting(_ session: Int64) -> Bool { sessions[session].map { !$0.waiting.isEmpty } ?? false }

    private mutating func update(_ number: Int64, _ body: (inout Session) -> Void) {
        body(&sessions[number, default: Session()])
        if sessions[number]?.isEmpty ?? false { sessions[number] = nil }
    }
}
