import Foundation

/// The networks that a session's requests may use, and the conditions.
extension URLSessionConfiguration {
    /// Whether requests may use interfaces whose use costs money: on Linux, the cellular ones. Default true.
    public var allowsExpensiveNetworkAccess: Bool {
        get { settings.allowsExpensiveNetworkAccess }
        set { settings.allowsExpensiveNetworkAccess = newValue }
    }

    /// Whether requests may use interfaces on which the user wants little traffic. Default true. Linux has no such
    /// setting for interfaces, so that no interface is excluded.
    public var allowsConstrainedNetworkAccess: Bool {
        get { settings.allowsConstrainedNetworkAccess }
        set { settings.allowsConstrainedNetworkAccess = newValue }
    }

    /// Whether requests may use networks with very little capacity, such as satellite networks. The property has no
    /// effect: Linux has no such setting for interfaces. Default true.
    public var allowsUltraConstrainedNetworkAccess: Bool {
        get { settings.allowsUltraConstrainedNetworkAccess }
        set { settings.allowsUltraConstrainedNetworkAccess = newValue }
    }

    /// Whether hosts' names must be validated by DNSSEC. Default false.
    ///
    /// If true, names are resolved only with the system's name servers, not with `/etc/hosts`, and only addresses that
    /// these servers mark as validated are used. The system must trust the servers' mark: this requires
    /// `options trust-ad` in `/etc/resolv.conf`, which `systemd-resolved` writes, and validation in the name server
    /// (`DNSSEC=yes` in `systemd-resolved`). In all other cases requests fail with `URLError.dnsLookupFailed`. Requests
    /// through proxies to names fail, too, because the proxy resolves the name. Addresses, `localhost` and Unix-domain
    /// sockets need no lookup.
    public var requiresDNSSECValidation: Bool {
        get { settings.requiresDNSSECValidation }
        set { settings.requiresDNSSECValidation = newValue }
    }

    /// Whether a task waits where there is no network, and does not fail. Default false.
    ///
    /// The delegate's method `taskIsWaitingForConnectivity` is called. The task fails after
    /// ``timeoutIntervalForResource``. It does not wait if its connection breaks after it was established, nor after
    /// the stream of its body was opened.
    public var waitsForConnectivity: Bool {
        get { settings.waitsForConnectivity }
        set { settings.waitsForConnectivity = newValue }
    }

    /// The network interface by which connections leave: its name, such as `eth1`, or one of its addresses, such as
    /// `192.0.2.7`, from which they then start. Default nil: the system selects interface and address.
    ///
    /// It applies to all connections of the session, also to those to proxies, but not to Unix-domain sockets and the
    /// lookup of names. An address permits connections to addresses of its own version of IP alone. Where the machine
    /// has no such interface or address, a connection fails with `URLError.cannotConnectToHost`.
    public var requiredInterface: String? {
        get { settings.requiredInterface }
        set { settings.requiredInterface = newValue }
    }

    /// Whether connections may use several networks at once, with Multipath TCP (RFC 8684). Default none.
    ///
    /// With each value but none, connections use Multipath TCP where the system and the server support it, and ordinary
    /// TCP otherwise. The selection of the networks, and whether they are used together or one after the other, is a
    /// setting of the system for all programs (`ip mptcp`): the three values have the same effect.
    /// ``URLSessionTaskTransactionMetrics/isMultipath`` reports the result.
    public var multipathServiceType: MultipathServiceType {
        get { settings.multipathServiceType }
        set { settings.multipathServiceType = newValue }
    }

    /// The way in which several networks are used at once.
    public enum MultipathServiceType: Int, Sendable {
        /// One network.
        case none = 0
        /// Another network when the first fails.
        case handover = 1
        /// The network that answers sooner.
        case interactive = 2
        /// All available networks.
        case aggregate = 3
    }
}
