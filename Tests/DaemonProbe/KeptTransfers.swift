import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransfers
import LoadingKitTransport

/// Performs no transfer, and keeps each that was begun in a file. A transfer with a file says how much it could read of it.
final class KeptTransfers: TransferPerformer {
    private struct State {
        var attached: Set<String> = []
        var observer: (@Sendable (Bool) -> Void)?
    }

    private let folder: URL
    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "KeptTransfers")

    init(folder: URL) throws {
        self.folder = folder
        // The tests see which processes were the daemon.
        let name = folder.appendingPathComponent("daemon-\(getpid())").path
        guard FileManager.default.createFile(atPath: name, contents: Data()) else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel {
        KeptChannel(self, session.identifier, receive)
    }

    /// Whether no other channel has the session attached.
    fileprivate func attach(_ session: String, _ receive: @escaping @Sendable (TransferEvent) -> Void) -> Bool {
        let isNew = state.withLock { $0.attached.insert(session).inserted }
        queue.async { [self] in
            guard isNew else {
                return receive(.detached(TransferError(.backgroundSessionInUseByAnotherProcess, "It is in use.")))
            }
            notify()
            let transfers = kept(session)
            let next = (transfers.map(\.identifier).max() ?? 0) + 1
            receive(.attached(SessionState(nextIdentifier: next, transfers: transfers)))
        }
        return isNew
    }

    func overview(_ completion: @escaping @Sendable ([SessionOverview]) -> Void) {
        queue.async { [self] in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            let parts = names.filter { $0.hasPrefix("transfer-") }.map { $0.split(separator: "-") }
            let sessions = Set(parts.compactMap { $0.dropFirst().first })
            completion(
                sessions.sorted().map { session in
                    SessionOverview(
                        identifier: String(session), program: "/usr/bin/probe",
                        isAttached: state.withLock { $0.attached.contains(String(session)) },
                        transfers: kept(String(session)))
                })
        }
    }

    func control(
        session: String, _ command: TransferCommand, completion: @escaping @Sendable ((any Error)?) -> Void
    ) { perform(command, session, [], { _ in }, completion) }

    func observeIdleness(_ change: @escaping @Sendable (Bool) -> Void) {
        queue.async { [self] in
            state.withLock { $0.observer = change }
            notify()
        }
    }

    private func notify() {
        let (observer, isIdle) = state.withLock { ($0.observer, $0.attached.isEmpty) }
        observer?(isIdle)
    }

    private func kept(_ session: String) -> [TransferRecord] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasPrefix("transfer-\(session)-") }.compactMap { name in
            guard let data = try? Data(contentsOf: folder.appendingPathComponent(name)) else { return nil }
            return try? JSONDecoder().decode(TransferRecord.self, from: data)
        }.sorted { $0.identifier < $1.identifier }
    }

    private func file(_ session: String, _ transfer: Int) -> URL {
        folder.appendingPathComponent("transfer-\(session)-\(transfer)")
    }

    /// In order. A transfer with the method PAUSE is kept, and no answer is given: the process is killed before.
    fileprivate func perform(
        _ command: TransferCommand, _ session: String, _ descriptors: [OwnedDescriptor],
        _ receive: @escaping @Sendable (TransferEvent) -> Void, _ completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let read = descriptors.map { descriptor in
            var bytes = [UInt8](repeating: 0, count: 1024)
            return pread(descriptor.number, &bytes, bytes.count, 0)
        }
        queue.async { [self] in
            switch command {
            case .begin(let transfer):
                let file = file(session, transfer.identifier)
                let isKnown = FileManager.default.fileExists(atPath: file.path)
                do {
                    try JSONEncoder().encode(transfer).write(to: file, options: .atomic)
                } catch {
                    return completion(error)
                }
                if transfer.request.method == "PAUSE", !isKnown { return }
                if let count = read.first {
                    receive(.didResume(transfer.identifier, offset: Int64(count), expected: Int64(descriptors.count)))
                }
                completion(nil)
            case .cancel(let transfer, _):
                guard FileManager.default.fileExists(atPath: file(session, transfer).path) else {
                    return completion(TransferError(.fileDoesNotExist, "There is no such transfer.").error)
                }
                try? FileManager.default.removeItem(at: file(session, transfer))
                completion(nil)
            case .take, .suspend, .resume, .change, .answerBeginning, .answerChallenge, .endSession, .reset, .flush:
                completion(nil)
            }
        }
    }

    fileprivate func detach(_ session: String) {
        state.withLock { _ = $0.attached.remove(session) }
        queue.async { [self] in notify() }
    }
}

private final class KeptChannel: TransferChannel {
    private let transfers: KeptTransfers
    private let session: String
    private let isAttached = Guarded(false)
    private let receive: @Sendable (TransferEvent) -> Void

    init(
        _ transfers: KeptTransfers, _ session: String, _ receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        self.transfers = transfers
        self.session = session
        self.receive = receive
    }

    func attach() {
        let isNew = transfers.attach(session, receive)
        isAttached.withLock { $0 = isNew }
    }

    func send(
        _ command: TransferCommand, descriptors: [OwnedDescriptor],
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) { transfers.perform(command, session, descriptors, receive, completion) }

    func detach() {
        let wasAttached = isAttached.withLock { isAttached in
            defer { isAttached = false }
            return isAttached
        }
        if wasAttached { transfers.detach(session) }
    }
}
