import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

extension DaemonControl {
    private static let maximumTries = 100
    /// Between tries, in nanoseconds.
    private static let pause: UInt64 = 50_000_000

    /// Begins a transfer in a session that no program holds for long. Returns its identifier when it is in the journal.
    ///
    /// - Parameter make: Makes the transfer, of which it is given the identifier.
    package func add(
        to session: SessionDescription, _ make: @escaping @Sendable (Int) -> TransferRecord
    ) async throws -> Int {
        for _ in 1..<Self.maximumTries {
            do {
                return try await addOnce(to: session, make)
            } catch let error as URLError where error.code == .backgroundSessionInUseByAnotherProcess {
                // Another run of the tool adds to it, which takes no time to speak of.
                try await Task.sleep(nanoseconds: Self.pause)
            }
        }
        return try await addOnce(to: session, make)
    }

    private func addOnce(
        to session: SessionDescription, _ make: @escaping @Sendable (Int) -> TransferRecord
    ) async throws -> Int {
        let addition = Addition()
        let channel = transfers.makeChannel(for: session) { addition.didReceive($0) }
        defer { channel.detach() }
        return try await addition.add(by: channel, make)
    }
}

/// One transfer that is added: the session is attached, and told to begin it.
private final class Addition: Sendable {
    private struct Start: Sendable {
        let begin: @Sendable (_ identifier: Int) -> Void
        let fail: @Sendable (any Error) -> Void
    }

    /// Until it is known whether the session is attached.
    private let start = Guarded<Start?>(nil)

    /// Attaches the channel's session, and gives the transfer's identifier when it is in the journal.
    func add(
        by channel: any TransferChannel, _ make: @escaping @Sendable (Int) -> TransferRecord
    ) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let start = Start(
                begin: { identifier in
                    channel.send(.begin(make(identifier)), descriptors: []) { error in
                        continuation.resume(with: error.map { .failure($0) } ?? .success(identifier))
                    }
                }, fail: { continuation.resume(throwing: $0) })
            self.start.withLock { $0 = start }
            channel.attach()
        }
    }

    /// The first event counts. A command that was sent is sent again by the channel where that is needed, and fails where the
    /// session cannot be attached again.
    func didReceive(_ event: TransferEvent) {
        switch event {
        case .attached(let state): takeStart()?.begin(state.nextIdentifier)
        case .detached(let error): takeStart()?.fail(error.error)
        case .progress, .didResume, .response, .redirected, .willBegin, .challenge, .ended,
            .deliveredEarlierEvents:
            break
        }
    }

    private func takeStart() -> Start? {
        start.withLock { start in
            defer { start = nil }
            return start
        }
    }
}
