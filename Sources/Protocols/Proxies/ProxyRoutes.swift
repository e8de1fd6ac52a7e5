import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The routes to a server that are tried in turn, and the failures of those tried.
package struct ProxyRoutes {
    /// The route that is tried now; nil for a direct connection.
    package private(set) var current: Proxy?
    private var untried: ArraySlice<Proxy?>
    private let count: UInt64
    private var failures: [any Error] = []

    /// The longest time to connect for a route that is followed by another one, in nanoseconds.
    private static let connectLimit: UInt64 = 10_000_000_000

    package init(_ routes: [Proxy?]) {
        current = routes.first.flatMap { $0 }
        untried = routes.dropFirst()
        count = UInt64(max(1, routes.count))
    }

    package var hasNext: Bool { !untried.isEmpty }

    /// The part of the time to connect, in nanoseconds, for a route that is followed by another one; nil for the last
    /// route.
    package func limit(of time: UInt64?) -> UInt64? {
        hasNext ? min(Self.connectLimit, time.map { $0 / count } ?? .max) : nil
    }

    /// Continues with the next route, if the route caused the failure and there is another one. Returns false
    /// otherwise.
    package mutating func takeNext(after error: any Error) -> Bool {
        guard hasNext, LoadFailure.isOfRoute(error), let next = untried.popFirst() else { return false }
        failures.append(error)
        current = next
        return true
    }

    /// The error of the load if every route has failed. It names all failures.
    package func failure(_ last: any Error) -> any Error {
        guard !failures.isEmpty, LoadFailure.isOfRoute(last) else { return LoadFailure.ofConnecting(last) }
        let texts = (failures + [last]).map { String(describing: $0).trimmingSuffix(".") }
        let error = URLError(LoadFailure.ofConnecting(last), url: nil)
        return LoadFailure(
            error.code, "None of \(texts.count) routes led to the server. \(texts.joined(separator: ". "))",
            unavailability: error.networkUnavailableReason)
    }
}

extension LoadFailure {
    /// The error of a load for a proxy's failure.
    package static func ofConnecting(_ error: any Error) -> any Error {
        (error as? ProxyError).map(LoadFailure.init) ?? error
    }

    /// Whether the route caused the failure, so that another route may succeed: false if the server's certificate was
    /// refused, its name was not validated, the proxy has responded to the request, or this process lacked what a
    /// connection needs.
    package static func isOfRoute(_ error: any Error) -> Bool {
        switch error {
        case let error as ProxyError: error.isOfProxy
        case let error as TransportError where error.isOfValidation || error.isLackOfResources: false
        case let error as TransportError:
            error.phase == .resolve || error.phase == .connect || error.cause == .timedOut
        case _: false
        }
    }
}

extension ProxyError {
    /// Whether the proxy itself failed: it cannot be reached, or does not speak a proxy's protocol. That this process
    /// lacks descriptors, memory or threads says nothing about the proxy.
    var isOfProxy: Bool {
        switch cause {
        case .unreachable(let error): !error.isLackOfResources
        case .malformed, .closed, .silent: true
        case .status, .refused, .authentication, .unusableName, .unanswered: false
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
