extension ByteStream {
    /// Whether packets to the peer would leave by another interface now, from another address than the connection's.
    package var isBetterRouted: Bool {
        guard case .ip(let local, _) = info.local, let now = NetworkInterface.source(to: info.remote) else {
            return false
        }
        return now != local
    }
}
