import LoadingKitCore
import LoadingKitPrimitives

/// Performs transfers for the daemon, and lists and controls those of all sessions for the tool.
package protocol TransferPerformer: BackgroundTransfers {
    /// Returns all sessions that have transfers, by identifier, with their transfers.
    func overview(_ completion: @escaping @Sendable ([SessionOverview]) -> Void)

    /// Suspends, resumes or cancels a transfer of any session, attached or not, as the program's own session would.
    func control(
        session: String, _ command: TransferCommand, completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Reports whether the performer is idle: no session is attached, no transfer can make progress, no program is about
    /// to be started, and the journal has all changes.
    func observeIdleness(_ change: @escaping @Sendable (_ isIdle: Bool) -> Void)
}

/// A session as it is shown to a person. Its transfers have no request bodies and no header fields.
package struct SessionOverview: Codable, Sendable {
    package var identifier: String
    package var program: String
    package var isAttached: Bool
    package var transfers: [TransferRecord]

    package init(identifier: String, program: String, isAttached: Bool, transfers: [TransferRecord]) {
        (self.identifier, self.program, self.isAttached) = (identifier, program, isAttached)
        self.transfers = transfers.map(\.plain)
    }
}

extension TransferRecord {
    /// The record as it is shown to a person, without the bodies and fields of requests.
    var plain: TransferRecord {
        var record = self
        record.request.body = nil
        record.request.fields = TransferFields(HTTPFields())
        record.resumeData = nil
        let (progress, error) = (status.progress, status.error)
        record.status = TransferStatus(error: error)
        record.status.error?.resumeData = nil
        record.status.error?.uploadResumeData = nil
        record.status.progress = progress
        return record
    }
}
