import Foundation

/// How the transfers of a background session are made. In other sessions these properties have no effect.
extension URLSessionConfiguration {
    /// Whether a background session's transfers wait for a good time. Default false.
    ///
    /// They do not begin while the machine runs on its battery, while the network is metered, or while its processors are
    /// busy, and begin spread over some time. A transfer that has begun goes on.
    public var isDiscretionary: Bool {
        get { settings.isDiscretionary }
        set { settings.isDiscretionary = newValue }
    }

    /// Whether the program is started for a background session's events, by ``backgroundLaunchCommand``. Default: true for a
    /// background session, as on Apple's systems.
    public var sessionSendsLaunchEvents: Bool {
        get { settings.sessionSendsLaunchEvents }
        set { settings.sessionSendsLaunchEvents = newValue }
    }

    /// The command that starts the program, as a path and arguments. It runs when all tasks of a background session are done, or
    /// when one of them waits for an answer of the delegate, while no session with this identifier exists. Default: nil, no
    /// program is started.
    ///
    /// The identifier is in the environment (`URLSession.backgroundSessionsToHandle`). A program that does not make
    /// the session then is started again when there is more: a minute later at the earliest, and then after a time that doubles
    /// each time, up to a day, until it has taken its events. The property is LoadingKit's own.
    public var backgroundLaunchCommand: [String]? {
        get { settings.backgroundLaunchCommand }
        set { settings.backgroundLaunchCommand = newValue }
    }

    /// The folder in which a background session's downloads are put together, in a folder of their own
    /// (`.loadkit-downloads`), so that a finished one can be moved to its place without being copied. Default nil: below
    /// `~/.local/state/loadkit` (`XDG_STATE_HOME`). Another folder than before counts for a session that has no transfers left:
    /// those that there are stay where they were begun. The property is LoadingKit's own.
    public var backgroundDownloadFolder: URL? {
        get { settings.backgroundDownloadFolder }
        set { settings.backgroundDownloadFolder = newValue }
    }

    /// Whether a background session's transfers are made by this process, and not by the daemon: for places where there can be
    /// no other process. They are in a journal of the program's own, and go on when the program makes the session again with
    /// this property; a session of the same identifier whose transfers the daemon makes is another one. Default false. The
    /// property is LoadingKit's own.
    public var runsInProcess: Bool {
        get { settings.runsInProcess }
        set { settings.runsInProcess = newValue }
    }

    /// The container in which background sessions put files. The property has no effect: Linux has no such containers;
    /// ``backgroundDownloadFolder`` is a folder of the program's choice.
    public var sharedContainerIdentifier: String? {
        get { settings.sharedContainerIdentifier }
        set { settings.sharedContainerIdentifier = newValue }
    }
}
