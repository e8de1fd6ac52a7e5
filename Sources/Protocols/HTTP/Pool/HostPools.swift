import LoadingKitTransport

/// A pool whose connections count for the limit of its host.
protocol HostPool: AnyObject {
    /// Closes an idle connection, for another pool.
    func makeRoom()
    /// Opens a connection for the requests that wait.
    func useRoom()
}

/// Carries out the steps of ``HostConnections`` with the host's pools. Confined to the session's loop.
final class HostPools {
    private var connections: HostConnections
    /// The pools that have connections or wait.
    private var pools: [HostConnections.PoolID: any HostPool] = [:]
    private var willTakeSteps = false

    init(limit: Int) { connections = HostConnections(limit: limit) }

    func share(of pool: any HostPool) -> HostConnections.Share { connections.share(of: ObjectIdentifier(pool)) }

    /// The steps that follow are taken in a later turn of the loop: the pool's actions have not been carried out yet.
    func poolDidChange(_ pool: any HostPool, _ use: HostConnections.Use, on loop: EventLoop) {
        let id = ObjectIdentifier(pool)
        let hasChanged = connections.update(id, use)
        if use == HostConnections.Use() { pools[id] = nil } else if hasChanged { pools[id] = pool }
        guard hasChanged, !willTakeSteps, connections.hasStep else { return }
        willTakeSteps = true
        loop.executeLater { [self] in takeSteps() }
    }

    private func takeSteps() {
        while let step = connections.nextStep() {
            switch step {
            case .makeRoom(let pool): pools[pool]?.makeRoom()
            case .useRoom(let pool): pools[pool]?.useRoom()
            }
        }
        willTakeSteps = false
    }
}
