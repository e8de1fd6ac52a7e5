import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A transfer in the service that is not over, and its current attempt. Confined to the service's loop.
final class ServiceTransfer: @unchecked Sendable {  // confined, as said above
    let session: ServiceSession
    var row: TransferRow
    var state: TransferState
    var clock: ResourceClock
    /// The time of the next attempt, or the time until which a challenge waits for the program.
    var waitEnd = MonotonicTime.distantFuture
    /// Fires when an action of the transfer is due.
    var alarm: LoopTimer?
    /// The transfer's record in the journal. Kept in memory while an attempt is under way, and also between attempts
    /// where it is small, so that it need not be read again.
    var record: TransferRecord?
    /// The file of an upload; nil where it is to be opened by its path.
    var upload: UploadFile?
    /// How far the part file was written, while no attempt is under way.
    var position: PartFile.Position?
    /// The current attempt's permission to change the part file, by which attempts differ; nil while none is under way.
    var permission: PartFile.Permission?
    /// Nil until the part file is open.
    var attempt: TransferAttempt?
    /// The largest number of bytes that the part file has had in any attempt.
    private var furthest: Int64 = 0
    var isPlaced = false
    /// Whether resume data are made before the transfer ends: it has failed, or the program has cancelled it with them.
    var isMakingResumeData = false

    init(_ row: TransferRow, _ state: TransferState, _ clock: ResourceClock, in session: ServiceSession) {
        (self.row, self.state, self.clock, self.session) = (row, state, clock, session)
    }

    var key: TransferKey { row.key }
    var identifier: Int { row.key.identifier }
    /// The request's URL, for errors.
    var url: URL? { record?.request.request?.url }
    /// Whether a later attempt can continue from the part file.
    var hasPart: Bool { record?.status.part != nil }

    /// The record with the transfer's current state.
    ///
    /// - Parameter kept: The record in the journal.
    func told(_ kept: TransferRecord) -> TransferRecord {
        var record = record ?? kept
        if let attempt { record.status.progress = attempt.progress }
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

    /// The number of transactions that a transfer's metrics keep over all attempts.
    private static let keptTransactions = 32

    func keep(_ metrics: TransferMetrics) {
        var all = record?.status.metrics ?? metrics
        if record?.status.metrics != nil { all.append(metrics) }
        all.transactions = Array(all.transactions.suffix(Self.keptTransactions))
        record?.status.metrics = all
    }

    /// Sets the current attempt, which continues a part file with `count` bytes.
    func begin(_ attempt: TransferAttempt, from count: Int64) {
        furthest = max(furthest, count)
        self.attempt = attempt
    }

    /// Notes how far the attempt has come. Only bytes behind those of all earlier attempts are progress, after which
    /// the pauses between attempts are short again: a server may send the same first bytes in each attempt. Bytes that
    /// the next attempt would have to request again are no progress, either.
    func noteProgress() {
        guard let attempt, attempt.resumeData != nil else { return }
        let received = attempt.progress.received
        guard received > furthest else { return }
        furthest = received
        state.attemptDidProgress()
    }

    /// Ends the current attempt. Its later events are ignored. Waits for a change of the part file that is under way.
    func stopAttempt() {
        permission?.revoke()
        permission = nil
        guard let attempt else { return }
        noteProgress()
        record?.status.progress = attempt.progress
        attempt.stop()
        if hasPart { position = attempt.file.position }
        self.attempt = nil
    }
}
