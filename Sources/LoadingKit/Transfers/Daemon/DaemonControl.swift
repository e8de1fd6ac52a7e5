import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// What the tool says to the daemon: it shows and controls the transfers of all sessions. One connection for each question.
package final class DaemonControl: Sendable {
    private let access: DaemonAccess
    private let loop: EventLoop

    package init(_ access: DaemonAccess = DaemonAccess(), on loop: EventLoop = .next()) {
        self.access = access
        self.loop = loop
    }

    var transfers: DaemonTransfers { DaemonTransfers(access, on: loop) }

    /// All sessions that have transfers.
    package func overview() async throws -> [SessionOverview] {
        try await ask(.overviewRequest(number: 1)) ?? []
    }

    /// Has a command performed for a transfer of any session.
    package func control(session: String, _ command: TransferCommand) async throws {
        _ = try await ask(.control(number: 1, session: session, command))
    }

    /// Has the daemon end, whatever it does; what it does goes on with the next one. One that does not run is not started.
    package func endDaemon() async throws {
        var access = access
        access.start = { () throws(DaemonError) in throw DaemonError("it does not run") }
        do {
            _ = try await DaemonControl(access, on: loop).ask(.goodbye(.init(endsDaemon: .always)))
        } catch is DaemonError {
            return
        }
    }

    private func ask(_ message: TransferMessage) async throws -> [SessionOverview]? {
        try await withCheckedThrowingContinuation { continuation in
            let question = ControlQuestion(message, access, loop) { continuation.resume(with: $0) }
            loop.execute { question.begin() }
        }
    }
}

/// One question to the daemon, and its answer. Confined to the loop.
private final class ControlQuestion: SocketLinkOwner, @unchecked Sendable {  // confined to the loop
    private let message: TransferMessage
    private let access: DaemonAccess
    private let loop: EventLoop
    private var completion: ((Result<[SessionOverview]?, any Error>) -> Void)?
    private var sessions: [SessionOverview] = []
    /// Holds this object until the answer is there.
    private var link: (SocketLink, ControlQuestion)?

    init(
        _ message: TransferMessage, _ access: DaemonAccess, _ loop: EventLoop,
        _ completion: @escaping @Sendable (Result<[SessionOverview]?, any Error>) -> Void
    ) {
        self.message = message
        self.access = access
        self.loop = loop
        self.completion = completion
    }

    func begin() {
        let dialer = DaemonDialer(access, on: loop) { [self] result in
            switch result {
            case .success(let link): put(link)
            case .failure(let error): finish(.failure(error))
            }
        }
        dialer.dial(until: loop.now.advanced(bySeconds: access.patience))
    }

    private func put(_ link: SocketLink) {
        self.link = (link, self)
        link.owner = self
        do throws(WireError) {
            try link.send(message)
        } catch {
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<[SessionOverview]?, any Error>) {
        let completion = completion
        self.completion = nil
        link?.0.finish()
        link = nil
        completion?(result)
    }

    func link(_ link: SocketLink, didReceive message: ReceivedMessage, descriptors: [OwnedDescriptor]) {
        guard case .message(let message) = message else { return }
        switch message {
        case .performed(_, let error?): finish(.failure(error.error))
        case .performed(_, nil): finish(.success(nil))
        case .overview(_, let part): OverviewParts.join(part, to: &sessions)
        case .overviewEnd: finish(.success(sessions))
        case .goodbye(let goodbye):
            if let error = goodbye.error { finish(.failure(error.error)) }
        case .hello, .attach, .command, .overviewRequest, .control, .event, .snapshots: break
        }
    }

    func link(_ link: SocketLink, didClose end: LinkEnd) {
        // The answer to a farewell.
        if case .goodbye = message { return finish(.success(nil)) }
        finish(.failure(DaemonError("the daemon did not answer: \(end)")))
    }
}
