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
/// The first interceptor gets a request first, and its response last: here each attempt of a retry is one call for the
/// breaker, and the validation gets only the last response. State is in the interceptors' own objects. Sessions share
/// it only where the program installs the same objects for both, or makes both with one configuration.
public struct ResilienceStack: Sendable {
    /// The interceptors, the outermost first.
    public let interceptors: [any Interceptor]

    /// Makes a stack of these interceptors, the outermost first.
    public init(_ interceptors: [any Interceptor]) { self.interceptors = interceptors }

    /// Inserts the stack before a configuration's handlers, after its existing interceptors
    /// (`URLSessionConfiguration.interceptors`).
    ///
    /// - Parameter schemes: The schemes of the requests that pass through the stack; compared regardless of case.
    ///   Default `http` and `https`.
    public func install(in configuration: URLSessionConfiguration, schemes: [String] = ["http", "https"]) {
        configuration.interceptors.append(InstalledStack(self, schemes))
    }

    /// Runs a load through the stack, and then with the handlers after the one that calls this method from its
    /// `load(_:)`.
    ///
    /// For programs whose own handler class decides which requests pass through a stack.
    public func run(_ load: LoadContext) async throws { try await run(load, Self.unnamed) }

    private static let unnamed = InstallationIdentity()

    fileprivate func run(_ load: LoadContext, _ installation: InstallationIdentity) async throws {
        let answer = try await NextInterceptors(interceptors, load, installation).load(load.request)
        if let loaded = answer.body.loaded { return try await load.receive(loaded, as: answer.response) }
        try await load.receive(answer.response)
        // A piece is read after the previous one was taken: backpressure reaches the connection.
        while let piece = try await answer.body.nextPiece() { try await load.receive(piece) }
    }
}

/// A stack in one configuration. A class, because each load holds it.
private final class InstalledStack: LoadInterceptor {
    private let stack: ResilienceStack
    private let schemes: Set<String>
    private let installation = InstallationIdentity()

    init(_ stack: ResilienceStack, _ schemes: [String]) {
        self.stack = stack
        self.schemes = Set(schemes.map { $0.lowercased() })
    }

    var runsOnSessionExecutor: Bool { true }

    func canIntercept(_ request: URLRequest) -> Bool {
        guard let scheme = request.url?.scheme, schemes.contains(scheme.lowercased()) else { return false }
        return stack.interceptors.contains { $0.canIntercept(request) }
    }

    func load(_ load: LoadContext) async throws { try await stack.run(load, installation) }
}
