import Foundation
import LoadingKitCore
import LoadingKitTransfers

/// The transfers of all sessions, one on each line.
struct TransferTable {
    private struct Row {
        let name: String
        let state: String
        let done: String
        let size: String
        let place: String
    }

    private let rows: [Row]

    init(_ sessions: [SessionOverview]) {
        rows = sessions.flatMap { session in
            session.transfers.map { Self.row(session.identifier, $0) }
        }
    }

    /// Lines of at most `width` characters, with a heading; a single line where there is no transfer.
    ///
    /// - Parameter height: The largest number of lines; nil for all. The last line states the number of omitted
    ///   transfers.
    func text(width: Int, height: Int? = nil) -> String {
        guard !rows.isEmpty else { return Self.line("No background transfers.", width) }
        let limit = height.map { rows.count < $0 ? rows.count : max($0 - 2, 0) } ?? rows.count
        let shown = rows.prefix(limit)
        let heading = Row(name: "TRANSFER", state: "STATE", done: "DONE", size: "SIZE", place: "WHAT")
        let all = [heading] + shown
        let state = all.map(\.state.count).max() ?? 0
        // The other columns, each two spaces from the previous one, and a minimum width for the resource.
        let others = state + 5 + 6 + 12 + 4 * 2
        let name = min(all.map(\.name.count).max() ?? 0, max(min(width - others, 32), 8))
        let lines = all.map { row in
            let start = [
                Columns.left(Columns.shortened(row.name, to: name), name), Columns.left(row.state, state),
                Columns.right(row.done, 5), Columns.right(row.size, 6),
            ].joined(separator: "  ")
            return Self.line(start + "  " + Columns.shortened(row.place, to: width - start.count - 2), width)
        }
        let left = rows.count - shown.count
        return lines.joined() + (left > 0 ? Self.line("and \(left) more", width) : "")
    }

    private static func line(_ text: String, _ width: Int) -> String { String(text.prefix(max(width, 0))) + "\n" }

    private static func row(_ session: String, _ transfer: TransferRecord) -> Row {
        let amount = TransferAmount(transfer)
        let url = CacheKey.withoutCredentials(transfer.request.url)
        let what = transfer.destination.map { "\(url) → \($0)" } ?? url
        let error = transfer.status.error.flatMap { $0.text ?? $0.reason }
        return Row(
            name: PlainText.line(TransferName(session: session, number: transfer.identifier).description),
            state: word(transfer.stage), done: amount.percent.map { "\($0) %" } ?? "-",
            size: Amount.bytes(amount.expected ?? amount.done),
            place: PlainText.line(error.map { "\(what): \($0)" } ?? what))
    }

    private static func word(_ stage: TransferRecord.Stage) -> String {
        switch stage {
        case .queued: "queued"
        case .running: "running"
        case .suspended: "paused"
        case .backingOff: "waits to try again"
        case .waitingForConnectivity: "waits for a network"
        case .waitingForProgram: "waits for its program"
        case .ended: "done"
        case .failed: "failed"
        }
    }
}

/// The progress of a transfer, in its relevant direction.
struct TransferAmount {
    let done: Int64
    /// Nil where it is not known.
    let expected: Int64?

    init(_ transfer: TransferRecord) {
        let progress = transfer.status.progress
        switch transfer.kind {
        case .download: (done, expected) = (progress.received, Self.known(progress.expectedToReceive))
        case .upload: (done, expected) = (progress.sent, Self.known(progress.expectedToSend))
        }
    }

    /// Rounded down, so that 100 means complete. Nil where it is not known.
    var percent: Int? {
        guard let expected, expected > 0 else { return nil }
        return Int(min(max(Double(done) / Double(expected) * 100, 0), 100))
    }

    private static func known(_ count: Int64) -> Int64? { count >= 0 ? count : nil }
}
