import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// The handlers of a program's that wait for the data to resume a task from.
final class ResumeDataHandlers: Sendable {
    private let waiting = Guarded<[@Sendable (Data?) -> Void]>([])

    var isEmpty: Bool { waiting.withLock { $0.isEmpty } }

    func append(_ handler: @escaping (Data?) -> Void) {
        // Apple's signature is not `@Sendable`; the handler goes to the delegate queue and nowhere else.
        let handler = LoopTransfer(handler)
        waiting.withLock { $0.append { handler.value($0) } }
    }

    /// Calls those that wait, in the mailbox; of a task that belongs to no session, at once.
    func produce(_ data: Data?, in mailbox: DelegateMailbox?) {
        let handlers = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for handler in handlers {
            if let mailbox { mailbox.post { handler(data) } } else { handler(data) }
        }
    }
}
