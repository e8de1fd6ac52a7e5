import Foundation
import LoadingKit

/// A link of a ``ResilienceStack``: it sees each request on its way out, and each response on its way back.
///
/// It may change the request, wait before it forwards, forward several times, answer without forwarding, or throw. What it
/// throws reaches the program as it is. Its task is cancelled when the load ends, for example because the program
/// cancelled the `URLSessionTask`, or because a redirect began a new load: every wait must end then. It runs on the session's
/// executor, beside the connections: it must neither block a thread nor compute for long.
public protocol Interceptor: Sendable {
    /// Whether the interceptor has anything to do with a request. Default: true.
    ///
    /// A request that no interceptor of a stack is concerned with does not pass through the stack at all, and costs nothing there.
    /// Each is asked about the request as the one before it forwarded it. Called on the session's executor, more than once for a
    /// load: it must neither block nor compute for long, and changes nothing.
    func canIntercept(_ request: URLRequest) -> Bool

    /// Loads a request, usually by `next`.
    ///
    /// - Parameters:
    ///   - request: What the interceptor before this one forwarded.
    ///   - next: The interceptors behind this one, and then the session's handlers.
    func load(_ request: URLRequest, _ next: NextInterceptors) async throws -> InterceptedResponse
}

extension Interceptor {
    /// Every request.
    public func canIntercept(_ request: URLRequest) -> Bool { true }
}

/// What is behind an interceptor: the others of its stack, and then the session's handlers.
public struct NextInterceptors: Sendable {
    /// The load that the stack runs: its task, its logger, its request as the program made it.
    public let context: LoadContext
    /// Where the stack was installed. Two installations of one stack differ.
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

    /// Forwards a request. May be called several times, also at the same time.
    ///
    /// Returns when the response's head is there; the body comes as it is read. A response that is let go of unread ends
    /// its load. A redirect ends the whole load, and its request passes through the stack anew.
    public func load(_ request: URLRequest) async throws -> InterceptedResponse {
        guard let next = interceptors[index...].firstIndex(where: { $0.canIntercept(request) }) else {
            return InterceptedResponse(try await context.next.load(request))
        }
        let others = NextInterceptors(interceptors, index: next + 1, context, installation)
        return try await interceptors[next].load(request, others)
    }
}

/// Tells the places apart in which stacks are installed.
final class InstallationIdentity: Sendable {}
