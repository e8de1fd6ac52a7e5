import Foundation
import LoadingKitTransport

/// The session that all parts of a process share. Invalidation has no effect, as on Apple's systems.
package final class SharedSession: URLSession, @unchecked Sendable {  // as its superclass
    package static func make(_ configuration: URLSessionConfiguration) -> URLSession {
        SharedSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: .next())
    }

    package override func finishTasksAndInvalidate() {}
    package override func finishTasks() async {}
    package override func invalidateAndCancel() {}
}
