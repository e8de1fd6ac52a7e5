import Foundation
import LoadingKit

/// The next action of a caller of a shared load.
enum FlightOutcome: Sendable {
    /// The response has arrived; the flight delivers its body.
    case response(URLResponse)
    /// The caller has to start the load.
    case leads
    /// The leader was redirected: each caller loads separately, and follows its own redirect.
    case loadsAlone
}

/// The events for which the callers of a shared load wait. A change collects the callers to wake in `wakes`.
struct FlightState: Sendable {
    typealias HeadWaiter = CheckedContinuation<FlightOutcome, any Error>
    typealias PieceWaiter = CheckedContinuation<Data?, any Error>
    typealias RoomWaiter = CheckedContinuation<Void, Never>

    struct Wakes: Sendable {
        var heads: [(HeadWaiter, Result<FlightOutcome, any Error>)] = []
        var pieces: [(PieceWaiter, Result<Data?, any Error>)] = []
        var room: RoomWaiter?
        var cancelled: Task<Void, Never>?

        func perform() {
            cancelled?.cancel()
            for (waiter, result) in heads { waiter.resume(with: result) }
            for (waiter, result) in pieces { waiter.resume(with: result) }
            room?.resume()
        }
    }

    var wakes = Wakes()
    var carrier: Task<Void, Never>?
    /// Waits until a caller counts as too slow.
    var stall: Task<Void, Never>?
    private var stallNumber: UInt64 = 0
    /// Callers that have not left.
    private(set) var present: Set<UInt64> = []
    private var buffer: FlightBuffer
    private var lastIdentifier: UInt64 = 0
    private var leader: UInt64?
    /// Distinguishes a leader's load from an earlier one.
    private var generation: UInt64 = 0
    /// The outcome for all callers.
    private var outcome: FlightOutcome?
    private var end: Result<Void, any Error>?
    private var headWaiters: [UInt64: HeadWaiter] = [:]
    private var pieceWaiters: [UInt64: PieceWaiter] = [:]
    private var roomWaiter: RoomWaiter?
    /// Callers that were removed because they were too slow.
    private var dropped: Set<UInt64> = []

    init(bufferLimit: Int) { buffer = FlightBuffer(limit: bufferLimit) }

    /// Whether no further caller may join.
    var isClosed: Bool {
        if case .loadsAlone? = outcome { return true }
        return end != nil || !buffer.isWhole || lastIdentifier > 0 && present.isEmpty
    }

    /// Whether the load waits for a slow caller while another one waits for data.
    var isStalled: Bool { roomWaiter != nil && !pieceWaiters.isEmpty }

    mutating func join() -> UInt64? {
        guard !isClosed else { return nil }
        lastIdentifier &+= 1
        present.insert(lastIdentifier)
        buffer.join(lastIdentifier)
        return lastIdentifier
    }

    // MARK: Callers

    mutating func wait(_ id: UInt64, forHead waiter: HeadWaiter) {
        if !present.contains(id) {
            wakes.heads.append((waiter, .failure(CancellationError())))
        } else if let outcome {
            wakes.heads.append((waiter, .success(outcome)))
        } else if case .failure(let error)? = end {
            wakes.heads.append((waiter, .failure(error)))
        } else if leader == nil {
            leader = id
            wakes.heads.append((waiter, .success(.leads)))
        } else {
            headWaiters[id] = waiter
        }
    }

    mutating func wait(_ id: UInt64, forPiece waiter: PieceWaiter) {
        if dropped.remove(id) != nil { return wakes.pieces.append((waiter, .failure(SingleFlightError.fellBehind))) }
        switch buffer.next(id) {
        case .piece(let data):
            wakes.pieces.append((waiter, .success(data)))
            giveRoom()
        case .gone: wakes.pieces.append((waiter, .failure(CancellationError())))
        case .none:
            if let end {
                wakes.pieces.append((waiter, end.map { nil }))
            } else {
                pieceWaiters[id] = waiter
            }
        }
    }

    /// Whether the caller leads a load whose response has not arrived: without it the load cannot continue.
    func leads(_ id: UInt64) -> Bool { leader == id && outcome == nil && end == nil }

    /// Returns the number of the leader's load; nil where it must not start one.
    mutating func lead(_ id: UInt64) -> UInt64? {
        guard leads(id), present.contains(id) else { return nil }
        generation &+= 1
        return generation
    }

    mutating func leave(_ id: UInt64, isRedirected: Bool) {
        dropped.remove(id)
        if let waiter = headWaiters.removeValue(forKey: id) {
            wakes.heads.append((waiter, .failure(CancellationError())))
        }
        if let waiter = pieceWaiters.removeValue(forKey: id) {
            wakes.pieces.append((waiter, .failure(CancellationError())))
        }
        guard present.remove(id) != nil else { return }
        buffer.leave(id)
        giveRoom()
        if present.isEmpty {
            wakes.cancelled = carrier
            carrier = nil
            roomWaiter.take().map { wakes.room = $0 }
        } else if leads(id) {
            replaceLeader(isRedirected: isRedirected)
        }
    }

    /// The leader's load ends with the leader: the next caller leads, or each caller loads separately.
    private mutating func replaceLeader(isRedirected: Bool) {
        wakes.cancelled = carrier
        carrier = nil
        generation &+= 1
        leader = nil
        if isRedirected {
            outcome = .loadsAlone
            wakes.heads += headWaiters.values.map { ($0, .success(.loadsAlone)) }
            headWaiters = [:]
        } else if let first = headWaiters.keys.min(), let waiter = headWaiters.removeValue(forKey: first) {
            leader = first
            wakes.heads.append((waiter, .success(.leads)))
        }
    }

    // MARK: The load

    /// Returns whether the load is still the one that the callers share; otherwise it has to end.
    mutating func receive(_ response: URLResponse, _ generation: UInt64) -> Bool {
        guard generation == self.generation, outcome == nil, end == nil else { return false }
        outcome = .response(response)
        wakes.heads += headWaiters.values.map { ($0, .success(.response(response))) }
        headWaiters = [:]
        return true
    }

    /// An earlier leader's load does not wait: its pieces are not kept.
    mutating func wait(forRoom waiter: RoomWaiter, _ generation: UInt64) {
        if generation != self.generation || buffer.hasRoom || present.isEmpty {
            wakes.room = waiter
        } else {
            roomWaiter = waiter
        }
    }

    mutating func append(_ piece: Data, _ generation: UInt64) {
        guard generation == self.generation else { return }
        buffer.append(piece)
        for (id, waiter) in pieceWaiters {
            guard case .piece(let data) = buffer.next(id) else { continue }
            pieceWaiters[id] = nil
            wakes.pieces.append((waiter, .success(data)))
        }
    }

    mutating func finish(_ end: Result<Void, any Error>, _ generation: UInt64) {
        guard generation == self.generation, self.end == nil else { return }
        self.end = end
        wakes.heads += headWaiters.values.map { ($0, end.flatMap { .failure(Self.noResponse) }) }
        wakes.pieces += pieceWaiters.values.map { ($0, end.map { nil }) }
        (headWaiters, pieceWaiters) = ([:], [:])
    }

    private static var noResponse: URLError {
        URLError(
            .badServerResponse,
            userInfo: [NSLocalizedDescriptionKey: "the load that is shared ended without a response"])
    }

    /// Without its leader a load cannot continue before its response has arrived.
    mutating func fail(_ error: any Error, _ generation: UInt64, isRedirected: Bool) {
        guard generation == self.generation, end == nil else { return }
        guard error is CancellationError, outcome == nil, let leader else {
            return finish(.failure(error), generation)
        }
        leave(leader, isRedirected: isRedirected)
    }

    /// Returns the number of the wait for a slow caller that begins now.
    mutating func beginStall() -> UInt64 {
        stallNumber &+= 1
        return stallNumber
    }

    /// - Parameter stall: the number of the wait that is over. It may end just as it is cancelled, and another one
    ///   begins.
    mutating func dropSlowest(after stall: UInt64) {
        guard stall == stallNumber else { return }
        self.stall = nil
        guard isStalled else { return }
        for id in buffer.dropSlowest() {
            present.remove(id)
            dropped.insert(id)
        }
        giveRoom()
    }

    private mutating func giveRoom() {
        if buffer.hasRoom, let waiter = roomWaiter.take() { wakes.room = waiter }
    }
}
