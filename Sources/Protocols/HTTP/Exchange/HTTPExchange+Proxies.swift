import LoadingKitProxies

/// Finds the exchange's route to the server, which may lead through proxies.
extension HTTPExchange {
    /// Continues when the routes are known, perhaps after a resolver was called.
    func findRoute(to origin: OriginRecord, _ target: RequestTarget) throws {
        if case .proxy(let proxy) = try origin.route(by: session.proxies) {
            return try prepare(target, origin, through: proxy)
        }
        state = .findingRoute(origin, target)
        try session.proxies.findRoutes(to: origin.origin.proxyTarget, for: number) { [weak self] in
            self?.didFindRoutes($0)
        }
    }

    private func didFindRoutes(_ routes: Result<[Proxy?], any Error>) {
        guard case .findingRoute(let origin, let target) = state, receiver != nil else { return }
        do {
            let routes = try routes.get()
            if routes.count > 1 { self.routes = ProxyRoutes(routes) }
            try prepare(target, origin, through: routes.first.flatMap { $0 })
        } catch {
            fail(error)
        }
    }

    var hasAnotherRoute: Bool { routes?.hasNext ?? false }

    /// The time limit for a connection, in nanoseconds; nil unless there is another route.
    var connectLimit: UInt64? { routes?.limit(of: session.settings.connectTimeout(of: request)) }

    /// No connection was made. The request takes the next route, if there is one.
    func takeAnotherRoute(after error: any Error) -> Bool {
        guard routes?.takeNext(after: error) == true, let routes else { return false }
        note(.retried(.anotherRoute), routes.current.map { "through \($0.description)" } ?? "directly")
        state = .gettingCookies
        if isInQueue { setQueued(false) }
        changeRoute(to: routes.current)
        return true
    }
}
