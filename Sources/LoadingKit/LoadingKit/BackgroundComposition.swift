import Foundation
import LoadingKitCore
import LoadingKitPersistence
import LoadingKitPrimitives
import LoadingKitTransfers
import LoadingKitTransport

/// Puts together what performs the transfers of background sessions.
enum BackgroundComposition {
    /// The daemon, as this program reaches it. The loop is its own: threads of other loops wait for what it brings.
    private static let daemon = DaemonAccess(on: EventLoop(name: "LoadingKit-daemon"))

    /// The service in this process, for configurations that want that, once it could be had.
    private static let inProcess = Guarded<TransferService?>(nil)

    /// Tried again for each session, as another process of the program's may have had the journal before. Blocks.
    private static func serviceInProcess() throws -> TransferService {
        let folder = StoreLocation.stateFolder.appendingPathComponent("programs/" + StoreLocation.programFileName)
        return try inProcess.withLock { service in
            if let service { return service }
            let made = try makeService(in: folder)
            service = made
            return made
        }
    }

    /// What a session of these settings uses. Throws where one of them cannot be carried, or the service cannot be had.
    static func support(_ settings: SessionSettings, identifier: String) throws -> BackgroundSupport {
        BackgroundSupport(
            transfers: settings.runsInProcess ? try serviceInProcess() : daemon,
            description: try SessionDescription(
                settings, identifier: identifier, program: settings.storeIdentifier ?? StoreLocation.programIdentifier,
                storeFolder: StoreLocation.folderPath(group: settings.storeIdentifier)))
    }

    /// The service with what a folder has of an earlier one, and keeps of this one. One process at a time has the folder;
    /// where it is another, this throws. Blocks.
    ///
    /// - Parameter patience: How long to wait for another process that has the folder, in seconds: it may just be ending.
    static func makeService(in folder: URL, patience: Double = 0) throws -> TransferService {
        guard let journal = try StoreLocation.transferJournal(folder: folder) else {
            throw LoadFailure(
                .cannotOpenFile, "background sessions need LoadingKit's package trait Persistence, for their journal")
        }
        let lock = try ProcessLock.take(folder: folder.path, patience: patience)
        return try TransferService(
            journal: journal, folder: folder.appendingPathComponent("downloads"), lock: lock,
            TransferService.Environment(makeConfiguration: configuration))
    }

    /// What a session's transfers are loaded with, but for the session's settings.
    private static func configuration(_ session: SessionDescription) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        let stores = session.storeFolder.map { StoreLocation.stores(in: $0) }
        if let cookies = stores?.cookies { configuration.httpCookieStorage = HTTPCookieStorage(persistence: cookies) }
        if let credentials = stores?.credentials {
            configuration.urlCredentialStorage = URLCredentialStorage(credentials)
        }
        if let hsts = stores?.hsts { configuration.settings.hsts = HSTSStore(persistence: hsts) }
        return configuration
    }
}
