import Foundation
import LoadingKitCore
import LoadingKitTransfers

/// The transfers of all sessions in a format for other programs: the output of `list --json`.
struct TransferList: Encodable {
    struct Entry: Encodable {
        let transfer: String
        let session: String
        let number: Int
        let program: String
        let isAttached: Bool
        let kind: String
        let state: String
        let url: String
        let destination: String?
        let description: String?
        let created: Date
        let sent: Int64
        let expectedToSend: Int64?
        let received: Int64
        let expectedToReceive: Int64?
        let error: String?
    }

    let transfers: [Entry]

    init(_ sessions: [SessionOverview]) {
        transfers = sessions.flatMap { session in session.transfers.map { Entry(session, $0) } }
    }

    /// One line, and the line break.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return ((try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}") + "\n"
    }
}

extension TransferList.Entry {
    init(_ session: SessionOverview, _ transfer: TransferRecord) {
        let progress = transfer.status.progress
        self.init(
            transfer: TransferName(session: session.identifier, number: transfer.identifier).description,
            session: session.identifier, number: transfer.identifier, program: session.program,
            isAttached: session.isAttached, kind: transfer.kind.rawValue, state: transfer.stage.rawValue,
            url: CacheKey.withoutCredentials(transfer.request.url), destination: transfer.destination,
            description: transfer.taskDescription, created: transfer.created, sent: progress.sent,
            expectedToSend: progress.expectedToSend >= 0 ? progress.expectedToSend : nil, received: progress.received,
            expectedToReceive: progress.expectedToReceive >= 0 ? progress.expectedToReceive : nil,
            error: transfer.status.error.flatMap { $0.text ?? $0.reason })
    }
}
