import Foundation
import LoadingKitTransport

/// The process's own session, which others may be using: invalidating it does nothing, as Apple has it.
package final class SharedSession: URLSession, @unchecked Sendable {  // as its superclass
    package static func make(_ configuration: URLSessionConfiguration) -> URLSession {
        SharedSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: .next())
    }

    package override func finishTasksAndInvalidate() {}
    package override func invalidateAndCancel() {}
}
