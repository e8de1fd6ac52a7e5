import LoadingKitCore
import LoadingKitPrimitives

/// The queue of transfers that wait for their turn. It counts the started transfers and selects the next one to start.
///
/// The transfer with the highest priority starts first; among equal priorities a transfer that the program expects to
/// be small, as it is soon over; then the transfer that has waited longest. The number of started transfers is limited
/// for each session and for the process. The sessions limit connections themselves. A transfer that is not started
/// needs hardly any memory. A started transfer that waits for a network does not count, so that it blocks no other.
struct TransferQueue {
    struct Limits: Sendable {
        var perSession = 64
        var inAll = 256
        /// The number of transfers that wait for a network and do not count as started. They keep their files open.
        var waitingForNetwork = 128
    }

    /// A transfer counts as small up to this expected size, in bytes. The size may be a rough estimate.
    static let smallSize: Int64 = 1 << 20

    private struct Entry {
        var priority: Float
        let isSmall: Bool
        let number: UInt64
        let identifier: Int
    }

    /// The positions of the entries in the heap, so that an entry can be removed.
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
        /// Whether none of the session's transfers may start now.
        var isHeld = false

        var isEmpty: Bool { waiting.isEmpty && started == 0 && !isHeld }

        mutating func remove(_ identifier: Int) -> Entry? {
            waiting.order.places[identifier].flatMap { waiting.remove(at: $0) }
        }
    }

    private let limits: Limits
    private var sessions: [Int64: Session] = [:]
    private(set) var started = 0
    /// The started transfers that do not count, because they wait for a network.
    private var waitingForNetwork: Set<TransferKey> = []
    /// The started transfers that wait for a network and count all the same, as too many others wait.
    private var countedWaits: [TransferKey] = []
    private var lastNumber: UInt64 = 0

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// - Parameter expectedBytes: The number of bytes to be sent and received; nil where it is not known.
    mutating func insert(_ key: TransferKey, priority: Float, expectedBytes: Int64? = nil) {
        remove(key)
        lastNumber += 1
        let isSmall = expectedBytes.map { $0 <= Self.smallSize } ?? false
        let entry = Entry(priority: priority, isSmall: isSmall, number: lastNumber, identifier: key.identifier)
        update(key.session) { $0.waiting.insert(entry) }
    }

    /// Removes a transfer from the queue. Without effect where the transfer is not in the queue.
    mutating func remove(_ key: TransferKey) { update(key.session) { _ = $0.remove(key.identifier) } }

    /// Changes a transfer's priority. A transfer keeps its position among those of the same priority.
    mutating func change(_ key: TransferKey, priority: Float) {
        update(key.session) { session in
            guard var entry = session.remove(key.identifier) else { return }
            entry.priority = priority
            session.waiting.insert(entry)
        }
    }

    /// Returns the next transfer to start and counts it as started; nil where no transfer may start.
    mutating func popNext() -> TransferKey? {
        guard started < limits.inAll else { return nil }
        var best: (session: Int64, entry: Entry)?
        for (number, session) in sessions where !session.isHeld && session.started < limits.perSession {
            guard let first = session.waiting.first else { continue }
            if let found = best, !Order.precedes(first, found.entry) { continue }
            best = (number, first)
        }
        guard let best else { return nil }
        update(best.session) { _ = $0.waiting.remove(at: 0) }
        let key = TransferKey(session: best.session, identifier: best.entry.identifier)
        countStarted(key)
        return key
    }

    /// A started transfer is no longer under way.
    mutating func didStop(_ key: TransferKey) { if !endWait(key) { countStopped(key) } }

    /// A started transfer waits for a network.
    mutating func didBeginWait(_ key: TransferKey) {
        guard !waitingForNetwork.contains(key), !countedWaits.contains(key) else { return }
        guard waitingForNetwork.count < limits.waitingForNetwork else {
            countedWaits.append(key)
            return
        }
        waitingForNetwork.insert(key)
        countStopped(key)
    }

    /// A started transfer no longer waits for a network. It counts again, also above the limits.
    mutating func didEndWait(_ key: TransferKey) {
        if endWait(key) { countStarted(key) }
    }

    /// Returns false where the transfer counts. Where it does not, the first of those that count all the same no longer
    /// does.
    private mutating func endWait(_ key: TransferKey) -> Bool {
        countedWaits.removeAll { $0 == key }
        guard waitingForNetwork.remove(key) != nil else { return false }
        if !countedWaits.isEmpty { didBeginWait(countedWaits.removeFirst()) }
        return true
    }

    private mutating func countStarted(_ key: TransferKey) {
        started += 1
        update(key.session) { $0.started += 1 }
    }

    private mutating func countStopped(_ key: TransferKey) {
        guard let count = sessions[key.session]?.started, count > 0 else { return }
        started -= 1
        update(key.session) { $0.started = count - 1 }
    }

    mutating func hold(_ session: Int64, _ isHeld: Bool) { update(session) { $0.isHeld = isHeld } }

    func hasWaiting(_ session: Int64) -> Bool { sessions[session].map { !$0.waiting.isEmpty } ?? false }

    private mutating func update(_ number: Int64, _ body: (inout Session) -> Void) {
        body(&sessions[number, default: Session()])
        if sessions[number]?.isEmpty ?? false { sessions[number] = nil }
    }
}
