import Foundation

/// Over which networks a session's requests go, and when.
extension URLSessionConfiguration {
    /// What kind of traffic the session's requests are, unless they say so themselves: packets are marked for it (DSCP,
    /// RFC 4594), which routers may heed.
    public var networkServiceType: URLRequest.NetworkServiceType {
        get { settings.networkServiceType }
        set { settings.networkServiceType = newValue }
    }

    /// Whether requests may go over cellular interfaces (those that the system knows as `wwan`). Default true. A request
    /// that may not fails with `URLError.dataNotAllowed`.
    public var allowsCellularAccess: Bool {
        get { settings.allowsCellularAccess }
        set { settings.allowsCellularAccess = newValue }
    }

    /// Whether requests may go over interfaces that cost: on Linux, the cellular ones. Default true.
    public var allowsExpensiveNetworkAccess: Bool {
        get { settings.allowsExpensiveNetworkAccess }
        set { settings.allowsExpensiveNetworkAccess = newValue }
    }

    /// Whether requests may go over interfaces on which the user wants little traffic. Default true. Linux has no such
    /// setting of its own, so this excludes none.
    public var allowsConstrainedNetworkAccess: Bool {
        get { settings.allowsConstrainedNetworkAccess }
        set { settings.allowsConstrainedNetworkAccess = newValue }
    }

    /// Whether a task waits for a network where there is none, rather than fail. Default false.
    ///
    /// The delegate hears `taskIsWaitingForConnectivity`; the task fails only when ``timeoutIntervalForResource`` is over.
    /// A connection that was made and breaks is an error all the same, and so is a body's stream that was opened before.
    public var waitsForConnectivity: Bool {
        get { settings.waitsForConnectivity }
        set { settings.waitsForConnectivity = newValue }
    }

    /// Whether connections go over several networks at once. Linux decides that by its own settings (MPTCP), so this is
    /// kept for the program's own use. Default none.
    public var multipathServiceType: MultipathServiceType {
        get { settings.multipathServiceType }
        set { settings.multipathServiceType = newValue }
    }

    /// Whether the system chooses when a background session's transfers go. Kept for the program's own use. Default false.
    public var isDiscretionary: Bool {
        get { settings.isDiscretionary }
        set { settings.isDiscretionary = newValue }
    }

    /// Whether the system starts the program for a background session's events. Kept for the program's own use, as Linux
    /// does not start programs for that. Default false.
    public var sessionSendsLaunchEvents: Bool {
        get { settings.sessionSendsLaunchEvents }
        set { settings.sessionSendsLaunchEvents = newValue }
    }

    /// The container in which background sessions put files. Linux has none; kept for the program's own use.
    public var sharedContainerIdentifier: String? {
        get { settings.sharedContainerIdentifier }
        set { settings.sharedContainerIdentifier = newValue }
    }

    /// Whether connections are kept open while the program is in the background. A Linux process is not suspended, so they
    /// are in any case. Default false.
    public var shouldUseExtendedBackgroundIdleMode: Bool {
        get { settings.shouldUseExtendedBackgroundIdleMode }
        set { settings.shouldUseExtendedBackgroundIdleMode = newValue }
    }

    /// What several networks at once are used for.
    public enum MultipathServiceType: Int, Sendable {
        /// One network.
        case none = 0
        /// Another when the first fails.
        case handover = 1
        /// Whichever answers sooner.
        case interactive = 2
        /// All that there are.
        case aggregate = 3
    }
}
