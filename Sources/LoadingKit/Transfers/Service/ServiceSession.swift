import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A background session in the service: its settings, who is attached, and where its transfers stand. Confined to the
/// service's loop.
final class ServiceSession: @unchecked Sendable {  // confined, as said above
    var record: JournaledSession
    /// Those of the description, but for the stores.
    private(set) var settings: SessionSettings
    /// The channel of the program that is attached; nil while none is.
    var client: ServiceChannel?
    /// Transfers whose ends were not yet in the journal when the client was attached: it is told when they are.
    var untold: Set<Int> = []
    /// Made when there is something to load.
    var urlSession: URLSession?
    private(set) var folder: PartFolder
    var transfers: [Int: Entry] = [:]
    /// Transfers that have ended, and are not taken, with the number of their end.
    var ended: [Int: Int64] = [:]
    var live: [Int: LiveTransfer] = [:]
    /// What the journal has of transfers that are about to be attempted, so that it is not read back.
    private var kept: [Int: JournaledTransfer] = [:]
    /// The files of uploads that came as descriptors.
    var uploads: [Int: UploadFile] = [:]
    /// How far the part files of transfers were written that are not under way now.
    var positions: [Int: PartFile.Position] = [:]
    var launching = LaunchPolicy()
    var launchTimer: LoopTimer?
    /// Whether the session was looked at whether its transfers may start, which are at the system's discretion.
    var discretionTimer: LoopTimer?

    /// A transfer that is not over.
    struct Entry {
        var summary: TransferSummary
        var state: TransferState
        var clock: ResourceClock
        var isWaitingForConnectivity = false
        /// Until when a challenge waits for the program; nil while none does.
        var challengeDeadline: MonotonicTime?
    }

    init(_ record: JournaledSession, in folder: String) throws {
        self.record = record
        settings = try record.description.settings
        self.folder = try PartFolder(
            for: record.description, chosen: settings.backgroundDownloadFolder?.path, in: folder)
    }

    /// Takes settings that the program has changed. Part files stay where they are: another folder for them counts when no
    /// transfer is left.
    func update(_ description: SessionDescription, in folder: String) throws {
        var description = description
        if !transfers.isEmpty || !ended.isEmpty {
            description.keep("backgroundDownloadFolder", of: record.description)
        }
        let settings = try description.settings
        self.folder = try PartFolder(for: description, chosen: settings.backgroundDownloadFolder?.path, in: folder)
        self.settings = settings
        record.description = description
    }

    /// Whether somebody is attached.
    var isWanted: Bool { client != nil }
    var number: Int64 { record.number }
    var description: SessionDescription { record.description }

    // MARK: What is kept of a transfer

    /// So many, and no long bodies: all is in the journal.
    private static let mostKept = 256
    private static let longestBody = 64 << 10

    func keep(_ transfer: JournaledTransfer) {
        let identifier = transfer.description.identifier
        kept[identifier] = nil
        guard kept.count < Self.mostKept, transfer.description.request.body?.count ?? 0 <= Self.longestBody else {
            return
        }
        kept[identifier] = transfer
    }

    func keptTransfer(_ identifier: Int) -> JournaledTransfer? { kept[identifier] }

    func forgetKept(_ identifier: Int) { kept[identifier] = nil }

    func key(_ identifier: Int) -> TransferKey { TransferKey(session: number, identifier: identifier) }
}
