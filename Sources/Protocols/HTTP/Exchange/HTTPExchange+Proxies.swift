import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// An exchange's search for its way to the server, which may lead through proxies.
extension HTTPExchange {
    /// Continues when the ways are known: at once, unless a resolver must be called first.
    func findWay(to origin: OriginRecord, _ target: RequestTarget) throws {
        if case .proxy(let proxy) = try session.ruledWay(to: origin) {
            return try prepare(target, origin, through: proxy)
        }
        state = .findingWay(origin, target)
        try session.proxies.findWays(to: origin.origin.proxyTarget, for: number) { [weak self] in
            self?.didFindWays($0)
        }
    }

    private func didFindWays(_ ways: Result<[Proxy?], any Error>) {
        guard case .findingWay(let origin, let target) = state, receiver != nil else { return }
        do {
            let ways = try ways.get()
            if ways.count > 1 { self.ways = ProxyWays(ways) }
            try prepare(target, origin, through: ways.first.flatMap { $0 })
        } catch {
            fail(error)
        }
    }

    /// Whether there is another way, should the one that is tried now lead nowhere.
    var hasAnotherWay: Bool { ways?.hasNext ?? false }

    /// The time limit for a connection while there is another way, in nanoseconds; nil if there is none.
    var connectLimit: UInt64? { ways?.limit(of: session.settings.connectTimeout) }

    /// No connection was made, and no part of the request was sent. The request takes the next way, if there is one.
    func takeAnotherWay(after error: any Error) -> Bool {
        guard ways?.takeNext(after: error) == true, let ways else { return false }
        state = .gettingCookies
        if isInQueue { setQueued(false) }
        changeWay(to: ways.current)
        return true
    }
}
