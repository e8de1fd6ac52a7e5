/// For whom a connection is made through a proxy.
protocol TunnelOwner: AnyObject {
    /// In whose name the program is asked for a credential: a request that waits for the connection. Nil when none does.
    var asker: HTTPExchange? { get }

    /// The attempt waits for the program, or no longer: the time of those that wait for it does not run.
    func isHeld(_ isHeld: Bool)
}
