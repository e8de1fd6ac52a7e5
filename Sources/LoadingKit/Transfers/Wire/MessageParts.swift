import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// The transfers of a session that is attached, as messages of which none is much longer than ``WireLimits/part``.
///
/// A transfer that cannot be written, or is too long for a message, is left out.
struct SnapshotParts {
    private let snapshots: [TransferRecord]
    private var index = 0

    init(_ snapshots: [TransferRecord]) { self.snapshots = snapshots }

    mutating func next() -> MessageFrame? {
        guard index < snapshots.count else { return nil }
        let encoder = MessagePayload.encoder()
        var payload = Data("[".utf8)
        while index < snapshots.count, payload.count < WireLimits.part {
            let one = try? encoder.encode(snapshots[index])
            index += 1
            guard let one, one.count < WireLimits.command - WireLimits.part - 2 else { continue }
            if payload.count > 1 { payload.append(UInt8(ascii: ",")) }
            payload.append(one)
        }
        payload.append(UInt8(ascii: "]"))
        return try? MessageFrame(kind: MessageKind.snapshots.rawValue, payload: payload)
    }
}

/// Events, of which each becomes a message when the one before it was sent. One that cannot be written is left out.
struct EventParts {
    /// The last first.
    private var events: [TransferEvent]

    init(_ events: [TransferEvent]) { self.events = events.reversed() }

    mutating func next() -> MessageFrame? {
        while let event = events.popLast() {
            if let frame = try? MessageFrame(.event(event)) { return frame }
        }
        return nil
    }
}

/// All sessions for a person's eyes, as messages with some transfers each.
struct OverviewParts {
    private static let transfersInPart = 100

    private enum Place {
        case session(Int, transfer: Int)
        case end
        case over
    }

    private let number: UInt64
    private let sessions: [SessionOverview]
    private var place = Place.session(0, transfer: 0)

    init(number: UInt64, _ sessions: [SessionOverview]) {
        self.number = number
        self.sessions = sessions
    }

    mutating func next() -> MessageFrame? {
        switch place {
        case .session(let index, let start):
            guard index < sessions.count else {
                place = .end
                return next()
            }
            var part = sessions[index]
            let rest = part.transfers.dropFirst(start)
            part.transfers = Array(rest.prefix(Self.transfersInPart))
            let isLast = rest.count <= Self.transfersInPart
            place = isLast ? .session(index + 1, transfer: 0) : .session(index, transfer: start + Self.transfersInPart)
            return (try? MessageFrame(.overview(number: number, [part]))) ?? next()
        case .end:
            place = .over
            return try? MessageFrame(.overviewEnd(number: number))
        case .over: return nil
        }
    }

    /// Adds a part to those before it.
    static func join(_ part: [SessionOverview], to sessions: inout [SessionOverview]) {
        for session in part {
            if sessions.last?.identifier == session.identifier {
                sessions[sessions.count - 1].transfers += session.transfers
            } else {
                sessions.append(session)
            }
        }
    }
}
