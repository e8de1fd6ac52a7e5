import Foundation

/// Over which networks a session's requests go, and when.
extension URLSessionConfiguration {
    /// The kind of traffic of the session's requests that have none of their own. Packets are marked with it (DSCP, RFC
    /// 4594), which routers may take into account.
    public var networkServiceType: URLRequest.NetworkServiceType {
        get { settings.networkServiceType }
        set { settings.networkServiceType = newValue }
    }

    /// Whether requests may go over cellular interfaces (those that the system knows as `wwan`). Default true. A
    /// request for which there is no other network fails with `URLError.dataNotAllowed`.
    public var allowsCellularAccess: Bool {
        get { settings.allowsCellularAccess }
        set { settings.allowsCellularAccess = newValue }
    }

    /// Whether requests may go over interfaces whose use costs money: on Linux, the cellular ones. Default true.
    public var allowsExpensiveNetworkAccess: Bool {
        get { settings.allowsExpensiveNetworkAccess }
        set { settings.allowsExpensiveNetworkAccess = newValue }
    }

    /// Whether requests may go over interfaces on which the user wants little traffic. Default true. Linux has no such
    /// setting for interfaces, so that no interface is excluded.
    public var allowsConstrainedNetworkAccess: Bool {
        get { settings.allowsConstrainedNetworkAccess }
        set { settings.allowsConstrainedNetworkAccess = newValue }
    }

    /// Whether requests may go over networks with very little capacity, such as satellites. The property has no effect: Linux has
    /// no such setting for interfaces. Default true.
    public var allowsUltraConstrainedNetworkAccess: Bool {
        get { settings.allowsUltraConstrainedNetworkAccess }
        set { settings.allowsUltraConstrainedNetworkAccess = newValue }
    }

    /// Whether the names of hosts must be validated by DNSSEC. Default false.
    ///
    /// If true, names are looked up with the system's name servers alone, not in `/etc/hosts`, and only addresses count that
    /// these say they have validated. The system must trust them to: `options trust-ad` in `/etc/resolv.conf`, as
    /// `systemd-resolved` writes there, and validation switched on in the name server (`DNSSEC=yes` there). In all other cases
    /// requests fail with `URLError.dnsLookupFailed`; those to names through proxies, too, as the proxy looks the name up.
    /// Addresses, `localhost` and Unix-domain sockets need no lookup.
    public var requiresDNSSECValidation: Bool {
        get { settings.requiresDNSSECValidation }
        set { settings.requiresDNSSECValidation = newValue }
    }

    /// Whether a task waits where there is no network, rather than fail. Default false.
    ///
    /// The delegate's method `taskIsWaitingForConnectivity` is called. The task fails when
    /// ``timeoutIntervalForResource`` is over. It does not wait after its connection has been made, and then breaks,
    /// nor when the stream of its body has been opened.
    public var waitsForConnectivity: Bool {
        get { settings.waitsForConnectivity }
        set { settings.waitsForConnectivity = newValue }
    }

    /// Whether connections may go over several networks at once, by Multipath TCP (RFC 8684). Default none.
    ///
    /// With each value but none, connections are made with Multipath TCP where the system and the server speak it, and are
    /// ordinary ones where not. Which networks they use, and whether together or one after the other, is a setting of the
    /// system for all programs (`ip mptcp`), so that the three values have the same effect.
    /// ``URLSessionTaskTransactionMetrics/isMultipath`` says what came of it.
    public var multipathServiceType: MultipathServiceType {
        get { settings.multipathServiceType }
        set { settings.multipathServiceType = newValue }
    }

    /// Whether connections are kept open while the program is in the background. The property has no effect: they are
    /// kept open in any case, as Linux does not suspend the process. Default false.
    public var shouldUseExtendedBackgroundIdleMode: Bool {
        get { settings.shouldUseExtendedBackgroundIdleMode }
        set { settings.shouldUseExtendedBackgroundIdleMode = newValue }
    }

    /// How several networks are used at once.
    public enum MultipathServiceType: Int, Sendable {
        /// One network.
        case none = 0
        /// Another when the first fails.
        case handover = 1
        /// The one that answers sooner.
        case interactive = 2
        /// All that there are.
        case aggregate = 3
    }
}
