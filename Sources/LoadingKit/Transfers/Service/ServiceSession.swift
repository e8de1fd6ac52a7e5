import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A background session in the service: its settings, who is attached, and its transfers. Confined to the service's loop.
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
    /// Those that are not over.
    var transfers: [Int: ServiceTransfer] = [:]
    /// Those that have ended, and are not taken.
    var ended: [Int: TransferRow] = [:]
    var launchTimer: LoopTimer?
    /// Between two starts of the program, until it has taken events.
    var launchPause = DoublingPause(from: 60, to: 86_400)
    /// Before that the program is not started again.
    var nextLaunch: MonotonicTime?
    /// Whether the session was looked at whether its transfers may start, which are at the system's discretion.
    var discretionTimer: LoopTimer?

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

    /// Takes settings that the program has changed. Part files stay where they are: another folder for them counts when no
    /// transfer is left.
    func update(_ description: SessionDescription, in folder: String) throws {
        var description = description
        if hasTransfers { description.keep("backgroundDownloadFolder", of: record.description) }
        (settings, self.folder) = try Self.read(description, folder)
        record.description = description
    }

    /// Whether somebody is attached.
    var isWanted: Bool { client != nil }
    var hasTransfers: Bool { !transfers.isEmpty || !ended.isEmpty }
    var number: Int64 { record.number }
    var description: SessionDescription { record.description }

    /// A session with more transfers keeps no records in memory and no files open but those of attempts: all is in the journal.
    private static let mostKept = 256
    private static let longestBody = 64 << 10

    /// Lets go of what is not needed of a transfer while no attempt is under way.
    func economize(_ transfer: ServiceTransfer) {
        let areFew = transfers.count <= Self.mostKept
        if !areFew || transfer.record?.request.body?.count ?? 0 > Self.longestBody { transfer.record = nil }
        if !areFew { transfer.upload = nil }
    }
}

/// A program's way to the service in the same process.
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
