import LoadingKitCore
import LoadingKitPrimitives

/// What performs transfers, as the daemon uses it: it also shows and controls those of all sessions, for the tool.
package protocol TransferPerformer: BackgroundTransfers {
    /// All sessions that have transfers, by identifier, with their transfers.
    func overview(_ completion: @escaping @Sendable ([SessionOverview]) -> Void)

    /// Suspends, resumes or cancels a transfer of any session, attached or not; as a program's own session would.
    func control(
        session: String, _ command: TransferCommand, completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Whether nothing is attached, and there is nothing to do.
    func observeIdleness(_ change: @escaping @Sendable (_ isIdle: Bool) -> Void)
}

/// A session for a person's eyes: of its transfers without the bodies and fields of requests.
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
    /// For a person's eyes: without the bodies and fields of requests.
    var plain: TransferRecord {
        var record = self
        record.request.body = nil
        record.request.fields = TransferFields(HTTPFields())
        record.resumeData = nil
        let (progress, error) = (standing.progress, standing.error)
        record.standing = TransferStanding(error: error)
        record.standing.error?.resumeData = nil
        record.standing.error?.uploadResumeData = nil
        record.standing.progress = progress
        return record
    }
}
