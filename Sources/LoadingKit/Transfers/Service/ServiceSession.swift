import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A background session in the service, its program and its transfers. Confined to the service's loop.
final class ServiceSession: @unchecked Sendable {  // confined, as said above
    var record: JournaledSession
    /// The settings of the session's description, without the stores.
    private(set) var settings: SessionSettings
    /// The channel of the attached program; nil while no program is attached.
    var client: ServiceChannel?
    /// Transfers whose ends were not yet in the journal when the program was attached. The program is notified of an
    /// end when it is in the journal.
    var untold: Set<Int> = []
    /// Made when there is something to load.
    var urlSession: URLSession?
    private(set) var folder: PartFolder
    var transfers: [Int: ServiceTransfer] = [:]
    /// The transfers that have ended, and whose ends the program has not taken.
    var ended: [Int: TransferRow] = [:]
    var launchTimer: LoopTimer?
    /// Ends the wait for a program that was attached to the previous service; nil while the session does not wait.
    var returnTimer: LoopTimer?
    /// The pause between two starts of the program. It is reset when the program has taken events.
    var launchPause = DoublingPause(from: 60, to: 86_400)
    /// The program is not started again before this time.
    var nextLaunch: MonotonicTime?
    /// The timer of the next check whether the session's discretionary transfers may start.
    var discretionTimer: LoopTimer?
    /// Whether discretionary transfers have to wait, for a random time or for better conditions of the machine.
    var waitsForConditions = false

    init(_ record: JournaledSession, in folder: String) throws {
        self.record = record
        (settings, self.folder) = try Self.read(record.description, folder)
    }

    private static func read(
        _ description: SessionDescription, _ folder: String
    ) throws -> (SessionSettings, PartFolder) {
        let settings = try description.settings
        let chosen = settings.backgroundDownloadFolder?.path
        return (settings, try PartFolder(for: description, chosen: chosen, in: folder))
    }

    /// Applies changed settings. Another folder takes effect when no transfer is left.
    func update(_ description: SessionDescription, in folder: String) throws {
        var description = description
        if hasTransfers { description.keep("backgroundDownloadFolder", of: record.description) }
        (settings, self.folder) = try Self.read(description, folder)
        record.description = description
    }

    /// The next attempt makes another session. Current loads continue with the settings with which they were begun.
    func retireURLSession() {
        urlSession?.finishTasksAndInvalidate()
        urlSession = nil
    }

    func cancelTimers() { for timer in [launchTimer, returnTimer, discretionTimer] { timer?.cancel() } }

    var isWanted: Bool { client != nil }
    var hasTransfers: Bool { !transfers.isEmpty || !ended.isEmpty }
    var number: Int64 { record.number }
    var description: SessionDescription { record.description }

    /// Above this number of transfers, only those with an attempt keep records and open files in memory.
    private static let mostKept = 256
    private static let longestBody = 64 << 10

    /// Releases the memory and files that a transfer does not need while no attempt is under way.
    func economize(_ transfer: ServiceTransfer) {
        let areFew = transfers.count <= Self.mostKept
        if !areFew || transfer.record?.request.body?.count ?? 0 > Self.longestBody { transfer.record = nil }
        if !areFew { transfer.upload = nil }
    }
}

/// A program's channel to the service in the same process.
final class ServiceChannel: TransferChannel, Sendable {
    private let service: TransferService
    private let session: SessionDescription
    let receive: @Sendable (TransferEvent) -> Void

    init(
        service: TransferService, session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        (self.service, self.session, self.receive) = (service, session, receive)
    }

    func attach() { service.loop.execute { [service, session] in service.attach(self, session) } }

    func send(
        _ command: TransferCommand, descriptors: [OwnedDescriptor],
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        service.loop.execute { [service] in
            guard let session = service.session(of: self) else {
                let text = "the background session is not attached"
                return completion(TransferError(.backgroundSessionWasDisconnected, text).error)
            }
            service.perform(command, descriptors.first, session, completion)
        }
    }

    func detach() { service.loop.execute { [service] in service.detach(self) } }
}
