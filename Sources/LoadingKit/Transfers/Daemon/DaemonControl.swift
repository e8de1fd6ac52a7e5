import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// What the tool says to the daemon: it shows and controls the transfers of all sessions, and adds some. One connection for
/// each question.
package final class DaemonControl: Sendable {
    private static let maximumTries = 100
    /// Between tries, in nanoseconds.
    private static let pause: UInt64 = 50_000_000

    private let access: DaemonAccess

    package init(_ access: DaemonAccess = DaemonAccess()) { self.access = access }

    /// All sessions that have transfers.
    package func overview() async throws -> [SessionOverview] { try await ask(.overviewRequest(number: 1)) }

    /// Has a command performed for a transfer of any session.
    package func control(session: String, _ command: TransferCommand) async throws {
        _ = try await ask(.control(number: 1, session: session, command))
    }

    /// Has the daemon end, whatever it does; what it does goes on with the next one. One that does not run is not started.
    package func endDaemon() async throws {
        var access = access
        access.start = { () throws(DaemonError) in throw DaemonError("it does not run") }
        do {
            _ = try await DaemonControl(access).ask(.goodbye(.init(endsDaemon: .always)))
        } catch is DaemonError {
            return
        }
    }

    private func ask(_ message: TransferMessage) async throws -> [SessionOverview] {
        try await withCheckedThrowingContinuation { continuation in
            let question = ControlQuestion(message) { continuation.resume(with: $0) }
            access.loop.execute { [access] in
                let dialer = DaemonDialer(access) { question.begin($0) }
                dialer.dial(until: access.loop.now.advanced(bySeconds: access.patience))
            }
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
        let (events, input) = AsyncStream.makeStream(of: TransferEvent.self)
        let channel = access.makeChannel(for: session) { input.yield($0) }
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

/// One question to the daemon, and its answer. Confined to the loop.
private final class ControlQuestion: SocketLinkOwner, @unchecked Sendable {  // confined to the loop
    private let message: TransferMessage
    private var completion: ((Result<[SessionOverview], any Error>) -> Void)?
    private var sessions: [SessionOverview] = []
    /// Holds this object until the answer is there.
    private var link: (SocketLink, ControlQuestion)?

    init(
        _ message: TransferMessage, _ completion: @escaping @Sendable (Result<[SessionOverview], any Error>) -> Void
    ) {
        self.message = message
        self.completion = completion
    }

    func begin(_ dialed: Result<SocketLink, DaemonError>) {
        do {
            let link = try dialed.get()
            self.link = (link, self)
            link.owner = self
            try link.send(message)
        } catch {
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<[SessionOverview], any Error>) {
        let completion = completion
        self.completion = nil
        link?.0.finish()
        link = nil
        completion?(result)
    }

    func link(_ link: SocketLink, didReceive message: ReceivedMessage, descriptors: [OwnedDescriptor]) {
        guard case .message(let message) = message else { return }
        switch message {
        case .performed(_, let error): finish(error.map { .failure($0.error) } ?? .success(sessions))
        case .overview(_, let part): take(part)
        case .goodbye(let goodbye):
            if let error = goodbye.error { finish(.failure(error.error)) }
        case .hello, .attach, .command, .overviewRequest, .control, .event, .transfer: break
        }
    }

    /// A session comes in parts, one after the other.
    private func take(_ part: SessionOverview) {
        if let last = sessions.last, (last.identifier, last.program) == (part.identifier, part.program) {
            sessions[sessions.count - 1].transfers += part.transfers
        } else {
            sessions.append(part)
        }
    }

    func link(_ link: SocketLink, didClose end: LinkEnd) {
        // The answer to a farewell.
        if case .goodbye = message { return finish(.success([])) }
        finish(.failure(DaemonError("the daemon did not answer: \(end)")))
    }
}
