import Foundation
import LoadingKitTransport

/// The part of its session that a load can use.
package struct LoadResources {
    package let core: SessionCore
    /// The task that the load belongs to.
    package let task: URLSessionTask
    /// The position in the registry of the first handler after this one.
    let next: URLProtocolRegistry.Position

    package var loop: EventLoop { core.loop }

    /// Whether the task, or the task that has replaced it, is suspended: no more of a request's body is sent.
    package var isSuspended: Bool { runner?.isSuspended == true }

    /// Calls `proceed` when the suspended task is resumed. It is not called if the task ends before.
    package func whenResumed(_ proceed: @escaping () -> Void) { runner?.whenResumed(proceed) }

    private var runner: (any TaskRunner)? { task.engine ?? core.successor(of: task).engine }
}

/// A handler class that comes with LoadingKit, with the properties of its schemes that sessions have to know. The defaults
/// are those of a program's schemes.
package protocol BuiltInHandler: URLProtocolHandler {
    static var ranges: RangeSupport { get }
    /// Whether the upload of an earlier task may continue.
    static var resumesUploads: Bool { get }
    /// The class itself, if its instances run on the event loop. (A cast would look through all conformances of the program.)
    static var native: (any LoopNativeHandler.Type)? { get }
}

extension BuiltInHandler {
    package static var ranges: RangeSupport { .declared }

    package static var resumesUploads: Bool { false }

    package static var native: (any LoopNativeHandler.Type)? { nil }
}

/// A handler class whose `load(_:)` never blocks, and never computes for long: it runs on the session's event loop, and
/// does not depend on the threads of Swift's task pool.
package protocol LoopAwareHandler: BuiltInHandler {}

/// A handler class whose instances run on the event loop themselves, and never block it.
package protocol LoopNativeHandler: BuiltInHandler {
    static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler
    /// Whether the handler may have a store with a response to the request. Where it has none, a request with the
    /// policy `returnCacheDataDontLoad` fails.
    static func hasStore(for request: URLRequest, _ resources: LoadResources) -> Bool
}

extension LoopNativeHandler {
    package static var native: (any LoopNativeHandler.Type)? { self }

    package static func hasStore(for request: URLRequest, _ resources: LoadResources) -> Bool { false }
}
