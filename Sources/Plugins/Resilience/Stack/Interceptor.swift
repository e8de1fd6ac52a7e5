import Foundation
import LoadingKit

/// An interceptor of a ``ResilienceStack``: it handles each request on its way out, and each response on its way back.
///
/// It may change the request, wait before it forwards, forward several times, answer without forwarding, or throw. The
/// program gets the thrown error unchanged. The interceptor's task is cancelled when the load ends, for example because
/// the program cancelled the `URLSessionTask`, or because a redirect started a new load: every wait must then end. It
/// runs on the session's executor, beside the connections: it must neither block a thread nor compute for long.
public protocol Interceptor: Sendable {
    /// Whether the interceptor handles a request. Default: true.
    ///
    /// A request that no interceptor of a stack handles does not pass through the stack, and costs nothing there. Each
    /// interceptor is called with the request as the one before it forwarded it. Called on the session's executor, more
    /// than once for a load: it must neither block nor compute for long, and must have no side effects.
    func canIntercept(_ request: URLRequest) -> Bool

    /// Loads a request, usually with `next`.
    ///
    /// - Parameters:
    ///   - request: The request that the previous interceptor forwarded.
    ///   - next: The interceptors after this one, and then the session's handlers.
    func load(_ request: URLRequest, _ next: NextInterceptors) async throws -> InterceptedResponse
}

extension Interceptor {
    /// Returns true for every request.
    public func canIntercept(_ request: URLRequest) -> Bool { true }
}

/// The rest of a stack after an interceptor: the other interceptors, and then the session's handlers.
public struct NextInterceptors: Sendable {
    /// The load that the stack runs: its task, its logger, and the program's original request.
    public let context: LoadContext
    /// The installation of the stack. Two installations of one stack differ.
    let installation: InstallationIdentity
    private let interceptors: [any Interceptor]
    private let index: Int

    init(_ interceptors: [any Interceptor], _ context: LoadContext, _ installation: InstallationIdentity) {
        self.init(interceptors, index: 0, context, installation)
    }

    private init(
        _ interceptors: [any Interceptor], index: Int, _ context: LoadContext, _ installation: InstallationIdentity
    ) {
        self.interceptors = interceptors
        self.index = index
        self.context = context
        self.installation = installation
    }

    /// Forwards a request. May be called several times, also concurrently.
    ///
    /// Returns when the response's head has arrived; the body arrives as it is read. A response that is released unread
    /// ends its load. A redirect ends the whole load, and its request passes through the stack again.
    public func load(_ request: URLRequest) async throws -> InterceptedResponse {
        guard let next = interceptors[index...].firstIndex(where: { $0.canIntercept(request) }) else {
            return InterceptedResponse(try await context.next.load(request))
        }
        let others = NextInterceptors(interceptors, index: next + 1, context, installation)
        return try await interceptors[next].load(request, others)
    }
}

/// Distinguishes the installations of stacks.
final class InstallationIdentity: Sendable {}
