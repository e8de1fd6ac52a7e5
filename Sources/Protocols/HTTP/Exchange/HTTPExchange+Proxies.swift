import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// The ways to a server that a request has not tried yet, and those that led nowhere.
struct ProxyWays {
    private var untried: ArraySlice<Proxy?>
    private let count: Int
    private var failures: [any Error] = []

    /// - Parameter ways: with the one that is tried first.
    init(_ ways: [Proxy?]) {
        untried = ways.dropFirst()
        count = ways.count
    }

    var hasNext: Bool { !untried.isEmpty }

    /// The share of each way in the time that there is to connect, in nanoseconds.
    func share(of time: UInt64?) -> UInt64 { min(ProxyLookup.connectLimit, time.map { $0 / UInt64(count) } ?? .max) }

    /// The next way, which is nil for the direct one.
    mutating func takeNext(after error: any Error) -> Proxy?? {
        failures.append(error)
        return untried.popFirst()
    }

    /// What the load fails with where no way has led on: it names all.
    func failure(_ last: any Error) -> any Error {
        guard !failures.isEmpty, LoadFailure.isOfWay(last) else { return LoadFailure.ofConnecting(last) }
        let texts = (failures + [last]).map { String(describing: $0).trimmingSuffix(".") }
        return LoadFailure(
            URLError(LoadFailure.ofConnecting(last), url: nil).code,
            "None of \(texts.count) ways led to the server. \(texts.joined(separator: ". "))")
    }
}

/// How the exchange finds its way to the server, where there may be proxies.
extension HTTPExchange {
    /// Goes on when the ways are known: at once, unless a resolver is to be asked.
    func findWay(to origin: OriginRecord, _ target: RequestTarget) throws {
        guard let lookup = try session.proxyLookup(for: origin) else {
            return try prepare(target, origin, through: session.proxy(for: origin))
        }
        let known = lookup.ask(origin.origin, for: number) { [weak self] in self?.didFindWays($0, origin, target) }
        if let known { try prepare(target, origin, by: known) }
    }

    private func didFindWays(_ ways: Result<[Proxy?], any Error>, _ origin: OriginRecord, _ target: RequestTarget) {
        guard case .new = state, receiver != nil else { return }
        do {
            try prepare(target, origin, by: ways.get())
        } catch {
            fail(LoadFailure.ofProxyLookup(error))
        }
    }

    private func prepare(_ target: RequestTarget, _ origin: OriginRecord, by ways: [Proxy?]) throws {
        if ways.count > 1 { self.ways = ProxyWays(ways) }
        try prepare(target, origin, through: ways.first.flatMap { $0 })
    }

    /// Whether there is another way, should the one that is tried now lead nowhere.
    var hasAnotherWay: Bool { ways?.hasNext ?? false }

    /// How long making a connection may take while there is another way, in nanoseconds; nil where there is none.
    var connectLimit: UInt64? {
        guard let ways, ways.hasNext else { return nil }
        return ways.share(of: session.settings.connectTimeout)
    }

    /// No connection was made, and nothing of the request was sent: it goes the next way, where there is one.
    func takeAnotherWay(after error: any Error) -> Bool {
        guard hasAnotherWay, LoadFailure.isOfWay(error), let next = ways?.takeNext(after: error) else { return false }
        state = .new
        if isInQueue { setQueued(false) }
        changeWay(to: next)
        return true
    }
}

extension LoadFailure {
    /// A proxy's failure as a load fails with it.
    package static func ofConnecting(_ error: any Error) -> any Error {
        (error as? ProxyError).map(LoadFailure.init) ?? error
    }

    /// Whether a way led nowhere, and another may lead on: not where the server's certificate is refused, its name is not
    /// validated, or the proxy has answered what it thinks of the request.
    static func isOfWay(_ error: any Error) -> Bool {
        switch error {
        case let error as ProxyError: error.isOfProxy
        case let error as TransportError where error.isOfValidation: false
        case let error as TransportError:
            error.phase == .resolve || error.phase == .connect || error.cause == .timedOut
        case _: false
        }
    }
}

extension ProxyError {
    /// Whether the proxy is not to be reached, or is none, whatever the destination.
    var isOfProxy: Bool {
        switch cause {
        case .unreachable, .malformed, .closed, .silent: true
        case .status, .refused, .authentication, .unusableName: false
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
