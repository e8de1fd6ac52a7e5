import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A transfer that is not over, in the service: where it stands, and its attempt while there is one. Confined to the
/// service's loop.
final class ServiceTransfer: @unchecked Sendable {  // confined, as said above
    let session: ServiceSession
    var row: TransferRow
    var state: TransferState
    var clock: ResourceClock
    /// When the next attempt may be made, or until when a challenge waits for the program, in the phases for these.
    var waitEnd = MonotonicTime.distantFuture
    /// Rings when something of it is due.
    var alarm: LoopTimer?
    /// What the journal has of it, while an attempt is under way; and else where it costs little, so that it is not read back.
    var record: TransferRecord?
    /// The file of an upload; nil where it is to be opened by its path.
    var upload: UploadFile?
    /// How far the part file was written, while no attempt is under way.
    var position: PartFile.Position?
    /// Which attempt is under way, of all that the service has made; nil while none is.
    var attemptNumber: UInt64?
    /// Nil until the part file is open.
    var attempt: TransferAttempt?
    /// Whether the download is at its destination.
    var isPlaced = false

    init(_ row: TransferRow, _ state: TransferState, _ clock: ResourceClock, in session: ServiceSession) {
        (self.row, self.state, self.clock, self.session) = (row, state, clock, session)
    }

    var key: TransferKey { row.key }
    var identifier: Int { row.key.identifier }
    /// For errors.
    var url: URL? { record?.request.request?.url }
    /// Whether a later attempt can go on from what is in the part file.
    var hasPart: Bool { record?.standing.part != nil }

    /// As it is now.
    ///
    /// - Parameter kept: What the journal has of it.
    func told(_ kept: TransferRecord) -> TransferRecord {
        var record = record ?? kept
        if let attempt { record.standing.progress = attempt.progress }
        record.stage =
            switch state.phase {
            case .over: .ended
            case _ where state.isSuspended: .suspended
            case .delayed, .asking, .queued: .queued
            case .running: attempt?.isWaitingForConnectivity ?? false ? .waitingForConnectivity : .running
            case .completing: .running
            case .backingOff: .backingOff
            case .needsProgram: .waitingForProgram
            }
        return record
    }

    /// The transactions of attempts that are kept in a transfer's metrics.
    private static let keptTransactions = 32

    func keep(_ metrics: TransferMetrics) {
        var all = record?.standing.metrics ?? metrics
        if record?.standing.metrics != nil { all.append(metrics) }
        all.transactions = Array(all.transactions.suffix(Self.keptTransactions))
        record?.standing.metrics = all
    }

    /// The attempt is over; nothing that still comes from it is heard.
    func stopAttempt() {
        attemptNumber = nil
        guard let attempt else { return }
        record?.standing.progress = attempt.progress
        attempt.stop()
        if hasPart { position = attempt.file.position }
        self.attempt = nil
    }
}
