import Foundation
import LoadingKitCore
import LoadingKitPersistence
import LoadingKitTransport

/// Access to the user's daemon, which performs the transfers of programs' background sessions. The daemon is started
/// where none runs, and again where it dies.
package struct DaemonAccess: BackgroundTransfers {
    package var place: @Sendable () throws -> DaemonPlace = { try .find() }
    /// Starts the daemon, and returns when the daemon accepts connections or has ended. May block.
    package var start: @Sendable () throws -> Void = { try DaemonProgram.find().start() }
    package var hello = TransferMessage.Hello(process: getpid(), stateFolder: StoreLocation.stateFolder().path)
    /// How long to try to reach the daemon, in seconds.
    package var patience = 30.0
    /// The event loop of the connections to the daemon.
    let loop: EventLoop

    package init(on loop: EventLoop = .next()) { self.loop = loop }

    package func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel {
        DaemonChannel(session, self, receive: receive)
    }
}

// The command line tool's requests to the daemon: the tool shows and controls the transfers of all sessions, and adds
// transfers. Each request has its own connection.
extension DaemonAccess {
    private static let maximumTries = 100
    /// The pause between tries, in nanoseconds.
    private static let pause: UInt64 = 50_000_000

    package func overview() async throws -> [SessionOverview] { try await ask { .overviewRequest(number: $0) } }

    /// Performs a command for a transfer of any session.
    package func control(session: String, _ command: TransferCommand) async throws {
        _ = try await ask { .control(number: $0, session: session, command) }
    }

    /// Ends the daemon, even where it is busy. The next daemon continues the transfers.
    package func endDaemon() async throws {
        var access = self
        access.start = { throw DaemonError("it does not run") }
        do { _ = try await access.ask { _ in .goodbye(.init(endsDaemon: .always)) } } catch is DaemonError {}
    }

    private func ask(_ message: @escaping @Sendable (UInt64) -> TransferMessage) async throws -> [SessionOverview] {
        let channel = DaemonChannel(nil, self)
        defer { channel.detach() }
        channel.attach()
        return try await withCheckedThrowingContinuation { continuation in
            channel.ask(message) { continuation.resume(with: $0) }
        }
    }

    // MARK: Adding

    /// Begins a transfer in a session that no program holds for long. Returns the transfer's identifier when the
    /// transfer is in the journal.
    ///
    /// - Parameter make: Makes the transfer with the given identifier.
    package func add(
        to session: SessionDescription, _ make: @escaping @Sendable (Int) -> TransferRecord
    ) async throws -> Int {
        for _ in 1..<Self.maximumTries {
            do { return try await addOnce(to: session, make) } catch URLError.backgroundSessionInUseByAnotherProcess {
                // Another run of the tool is adding a transfer, which takes very little time.
                try await Task.sleep(nanoseconds: Self.pause)
            }
        }
        return try await addOnce(to: session, make)
    }

    private func addOnce(
        to session: SessionDescription, _ make: @escaping @Sendable (Int) -> TransferRecord
    ) async throws -> Int {
        let (events, input) = AsyncStream.makeStream(of: TransferEvent.self)
        let channel = makeChannel(for: session) { input.yield($0) }
        defer { channel.detach() }
        channel.attach()
        // Only the first event matters. The channel sends a command again where that is needed, and fails the command
        // where the session cannot be attached again.
        for await event in events {
            if case .detached(let error) = event { throw error.error }
            guard case .attached(let state) = event else { continue }
            return try await withCheckedThrowingContinuation { continuation in
                channel.send(.begin(make(state.nextIdentifier)), descriptors: []) { error in
                    continuation.resume(with: error.map { .failure($0) } ?? .success(state.nextIdentifier))
                }
            }
        }
        throw CancellationError()
    }
}
