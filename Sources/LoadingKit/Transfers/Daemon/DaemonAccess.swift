import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// The user's daemon, as programs reach it, which performs the transfers of their background sessions. It is started when there
/// is none, and again where it dies.
package struct DaemonAccess: BackgroundTransfers {
    package var place: @Sendable () throws -> DaemonPlace = { try .find() }
    /// Starts the daemon, and returns when it accepts connections or has ended. May block.
    package var start: @Sendable () throws -> Void = { try DaemonProgram.find().start() }
    package var hello = TransferMessage.Hello(process: getpid())
    /// How long to try, in seconds.
    package var patience = 30.0
    /// That of the connections to it.
    let loop: EventLoop

    package init(on loop: EventLoop = .next()) { self.loop = loop }

    package func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel {
        DaemonChannel(session, self, receive: receive)
    }
}

// What the tool says to the daemon: it shows and controls the transfers of all sessions, and adds some. One connection for each
// question.
extension DaemonAccess {
    private static let maximumTries = 100
    /// Between tries, in nanoseconds.
    private static let pause: UInt64 = 50_000_000

    /// All sessions that have transfers.
    package func overview() async throws -> [SessionOverview] { try await ask { .overviewRequest(number: $0) } }

    /// Has a command performed for a transfer of any session.
    package func control(session: String, _ command: TransferCommand) async throws {
        _ = try await ask { .control(number: $0, session: session, command) }
    }

    /// Has the daemon end, whatever it does; what it does goes on with the next one. One that does not run is not started.
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

    /// Begins a transfer in a session that no program holds for long. Returns its identifier when it is in the journal.
    ///
    /// - Parameter make: Makes the transfer, of which it is given the identifier.
    package func add(
        to session: SessionDescription, _ make: @escaping @Sendable (Int) -> TransferRecord
    ) async throws -> Int {
        for _ in 1..<Self.maximumTries {
            do { return try await addOnce(to: session, make) } catch URLError.backgroundSessionInUseByAnotherProcess {
                // Another run of the tool adds to it, which takes no time to speak of.
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
        // The first event counts. A command that was sent is sent again by the channel where that is needed, and fails where
        // the session cannot be attached again.
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
