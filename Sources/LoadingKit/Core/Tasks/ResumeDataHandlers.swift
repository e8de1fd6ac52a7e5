import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// The program's handlers that wait for the data from which a task can be resumed.
final class ResumeDataHandlers: Sendable {
    private enum State {
        case waiting([@Sendable (Data?) -> Void])
        /// The load has ended, which may not have been reported to the program yet.
        case over(Data?)
    }

    private let state = Guarded(State.waiting([]))

    var isEmpty: Bool { state.withLock { if case .waiting(let handlers) = $0 { handlers.isEmpty } else { true } } }

    /// Calls the handler in the mailbox, once the resume data is available.
    func append(_ handler: @escaping (Data?) -> Void, in mailbox: DelegateMailbox?) {
        // Apple's signature is not `@Sendable`; the handler is passed only to the delegate queue.
        let handler = LoopTransfer(handler)
        let data = state.withLock { state -> Data?? in
            switch state {
            case .waiting(let handlers):
                state = .waiting(handlers + [{ handler.value($0) }])
                return nil
            case .over(let data): return .some(data)
            }
        }
        if let data { Self.call([{ handler.value($0) }], data, in: mailbox) }
    }

    /// The load has ended. Calls the waiting handlers, in the mailbox; for a task that belongs to no session, at once.
    func produce(_ data: Data?, in mailbox: DelegateMailbox?) {
        let handlers = state.withLock { state -> [@Sendable (Data?) -> Void] in
            guard case .waiting(let handlers) = state else { return [] }
            state = .over(data)
            return handlers
        }
        Self.call(handlers, data, in: mailbox)
    }

    private static func call(_ handlers: [@Sendable (Data?) -> Void], _ data: Data?, in mailbox: DelegateMailbox?) {
        for handler in handlers {
            if let mailbox { mailbox.post { handler(data) } } else { handler(data) }
        }
    }
}

extension URLError {
    /// The error with the task's resume data.
    func adding(_ resumeData: Data, _ key: String) -> URLError {
        URLError(code, userInfo: userInfo.merging([key: resumeData]) { $1 })
    }
}
