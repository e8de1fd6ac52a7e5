import Foundation

/// Settings for the transfers of background sessions. They have no effect in other sessions.
extension URLSessionConfiguration {
    /// Whether the program is started for a background session's events, by ``backgroundLaunchCommand``. Default: true for a
    /// background session, as on Apple's systems.
    public var sessionSendsLaunchEvents: Bool {
        get { settings.sessionSendsLaunchEvents }
        set { settings.sessionSendsLaunchEvents = newValue }
    }

    /// The command that starts the program, as a path and arguments. It runs when all tasks of a background session have
    /// ended, or one of them waits for an answer of the delegate, while no session with this identifier exists. Default
    /// nil: no program is started.
    ///
    /// The identifier is in the environment (`URLSession.backgroundSessionsToHandle`). A program that does not make the
    /// session is started again when there are more events: after a minute at the earliest, and then after intervals that
    /// double, up to a day, until it has taken its events. This property exists only in LoadingKit.
    public var backgroundLaunchCommand: [String]? {
        get { settings.backgroundLaunchCommand }
        set { settings.backgroundLaunchCommand = newValue }
    }

    /// The folder for a background session's incomplete downloads, which are in its subfolder `.loadkit-downloads`. A
    /// complete download can be moved within the same file system without a copy. Default nil: a folder below
    /// `~/.local/state/loadkit` (`XDG_STATE_HOME`). A changed folder has an effect when the session has no transfers:
    /// existing transfers remain in the former folder. This property exists only in LoadingKit.
    public var backgroundDownloadFolder: URL? {
        get { settings.backgroundDownloadFolder }
        set { settings.backgroundDownloadFolder = newValue }
    }

    /// Whether this process performs a background session's transfers, and not the daemon, for environments without other
    /// processes. The transfers are in the program's own journal, and continue when the program makes the session again
    /// with this property. A session with the same identifier in the daemon is a different session. Default false. This
    /// property exists only in LoadingKit.
    public var runsInProcess: Bool {
        get { settings.runsInProcess }
        set { settings.runsInProcess = newValue }
    }
}
