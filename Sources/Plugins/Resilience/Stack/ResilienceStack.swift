import Foundation
import LoadingKit

/// Interceptors in front of a session's handlers, in order: the first is the outermost.
///
/// ```swift
/// let configuration = URLSessionConfiguration.ephemeral
/// ResilienceStack([
///     ResponseValidation(),
///     Retries(RetryPolicy()),
///     CircuitBreaker(),
/// ]).install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// ```
///
/// The first sees a request first, and its response last: here each attempt of a retry is one call for the breaker, and the
/// validation sees the last response alone. State is in the interceptors' own objects. Sessions share it only where the
/// program installs the same objects for both, or makes both with one configuration.
public struct ResilienceStack: Sendable {
    /// The interceptors, the outermost first.
    public let interceptors: [any Interceptor]

    /// A stack of these, the outermost first.
    public init(_ interceptors: [any Interceptor]) { self.interceptors = interceptors }

    /// Puts the stack in front of a configuration's handlers for some schemes, in place of an earlier stack or factory.
    ///
    /// The configuration's `protocolClasses` are asked before the stack; classes that are registered for every session,
    /// and the built-in ones, are behind it.
    ///
    /// - Parameter schemes: Compared without regard to case. Default `http` and `https`.
    public func install(in configuration: URLSessionConfiguration, schemes: [String] = ["http", "https"]) {
        let installation = InstallationIdentity()
        for scheme in schemes {
            configuration.register(scheme: scheme) { load in
                try await run(load, installation)
            }
        }
    }

    /// Runs a load through the stack, and then by the handlers behind the one that calls this from its `load(_:)`.
    ///
    /// For programs whose own handler class decides which requests pass through a stack.
    public func run(_ load: LoadContext) async throws { try await run(load, Self.unnamed) }

    private static let unnamed = InstallationIdentity()

    private func run(_ load: LoadContext, _ installation: InstallationIdentity) async throws {
        let loaded = try await NextInterceptors(interceptors, load, installation).load(load.request)
        try await load.receive(loaded.response)
        // A piece is read when the one before it was taken: backpressure reaches the connection.
        while let piece = try await loaded.body.nextPiece() { try await load.receive(piece) }
    }
}
