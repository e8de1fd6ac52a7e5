#if Background
    import Foundation
    import LoadingKitCore
    import LoadingKitPersistence
    import LoadingKitPrimitives
    import LoadingKitTransfers
    import LoadingKitTransport

    /// Composes the service that performs the transfers of background sessions.
    package enum BackgroundComposition {
        /// This program's access to the daemon. It has its own loop, because threads of other loops wait for its results.
        private static let daemon = DaemonAccess(on: EventLoop(name: "LoadingKit-daemon"))

        /// The service in this process, for configurations that use it; nil until it was made.
        private static let inProcess = Guarded<TransferService?>(nil)

        /// Retried for each session, because another process of the program may have had the journal before. Blocks.
        private static func serviceInProcess() throws -> TransferService {
            let folder = StoreLocation.stateFolder().appendingPathComponent("programs/" + StoreLocation.programFileName)
            return try inProcess.withLock { service in
                if let service { return service }
                let made = try makeService(in: folder)
                service = made
                return made
            }
        }

        /// The channels of a session with these settings. Throws where a setting cannot be transmitted, or the service is
        /// not available.
        static func channels(_ settings: SessionSettings, identifier: String) throws -> TransferChannelMaker {
            let description = try SessionDescription(
                settings, identifier: identifier, program: settings.storeIdentifier ?? StoreLocation.programIdentifier,
                storeFolder: StoreLocation.folderPath(group: settings.storeIdentifier))
            return try settings.runsInProcess
                ? serviceInProcess().channels(for: description) : daemon.channels(for: description)
        }

        /// Makes the service with the state that an earlier service has left in a folder. One process at a time may use the
        /// folder; while another process uses it, this method throws. Blocks.
        ///
        /// - Parameter patience: The time to wait for another process that uses the folder, in seconds: it may be about to
        ///   end.
        package static func makeService(in folder: URL, patience: Double = 0) throws -> TransferService {
            guard let journal = try StoreLocation.transferJournal(folder: folder) else {
                throw LoadFailure(
                    .cannotOpenFile,
                    "background sessions need LoadingKit's package trait Persistence, for their journal")
            }
            let lock = try ProcessLock.take(folder: folder.path, patience: patience)
            return try TransferService(
                journal: journal, folder: folder.appendingPathComponent("downloads"), lock: lock,
                TransferService.Environment(makeConfiguration: configuration))
        }

        /// The configuration for a session's transfers, without the session's settings.
        private static func configuration(_ session: SessionDescription) -> URLSessionConfiguration {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            // The daemon performs the transfers of several programs.
            configuration.settings.recorders = []
            let stores = session.storeFolder.map { StoreLocation.stores(in: $0) }
            if let cookies = stores?.cookies {
                configuration.httpCookieStorage = HTTPCookieStorage(persistence: cookies)
            }
            if let credentials = stores?.credentials {
                configuration.urlCredentialStorage = URLCredentialStorage(credentials)
            }
            if let hsts = stores?.hsts { configuration.settings.hsts = HSTSStore(persistence: hsts) }
            return configuration
        }
    }
#else
    import LoadingKitCore

    enum BackgroundComposition {
        static func channels(_ settings: SessionSettings, identifier: String) throws -> TransferChannelMaker {
            throw LoadFailure(.cannotOpenFile, "background sessions need LoadingKit's package trait Background")
        }
    }
#endif
