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
        to session: SessionDescription, _ make: @escaping @Sendable (Int) -> TransferDescription
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
        to session: SessionDescription, _ make: @escaping @Sendable (Int) -> TransferDescription
    ) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let addition = Addition(make, continuation)
            addition.begin { self.transfers.attach(session, receive: $0) }
        }
    }
}

/// One transfer that is added: the session is attached, told to begin it, and detached.
private final class Addition: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Int, any Error>?
        var channel: (any TransferChannel)?
        /// Of the state that came before the channel was known.
        var identifier: Int?
    }

    private let make: @Sendable (Int) -> TransferDescription
    private let state: Guarded<State>

    init(_ make: @escaping @Sendable (Int) -> TransferDescription, _ continuation: CheckedContinuation<Int, any Error>)
    {
        self.make = make
        state = Guarded(State(continuation: continuation))
    }

    func begin(_ attach: (@escaping @Sendable (TransferEvent) -> Void) -> any TransferChannel) {
        let channel = attach { event in
            switch event {
            case .attached(let attached): self.send { $0.identifier = $0.identifier ?? attached.nextIdentifier }
            case .detached(let error): self.finish(.failure(error.error))
            case .progress, .didResume, .response, .redirected, .waitsForConnectivity, .willBegin, .challenge, .ended,
                .deliveredEarlierEvents:
                break
            }
        }
        send { $0.channel = channel }
    }

    /// Sends the command when both are known. A command that was sent is sent again by the channel, where that is needed.
    private func send(_ change: (inout State) -> Void) {
        let (channel, identifier) = state.withLock { state -> ((any TransferChannel)?, Int?) in
            let wasReady = state.channel != nil && state.identifier != nil
            change(&state)
            return wasReady ? (nil, nil) : (state.channel, state.identifier)
        }
        guard let channel, let identifier else { return }
        channel.send(.begin(make(identifier)), descriptors: []) { error in
            self.finish(error.map { .failure($0) } ?? .success(identifier))
        }
    }

    private func finish(_ result: Result<Int, any Error>) {
        let (continuation, channel) = state.withLock { state in
            defer { state.continuation = nil }
            return (state.continuation, state.channel)
        }
        channel?.detach()
        continuation?.resume(with: result)
    }
}
