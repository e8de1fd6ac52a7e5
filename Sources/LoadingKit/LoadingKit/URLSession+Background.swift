import Foundation
import LoadingKitCore

extension URLSessionConfiguration {
    /// A new configuration for a background session: its downloads, and its uploads of files, continue while the
    /// program is suspended, after it ends or is killed, or while it is replaced by a newer version.
    ///
    /// The user's daemon performs the transfers, and is started when it is not running (``LoadingKitBackground``). With
    /// ``runsInProcess`` the program performs them whenever it runs. A later run of the program makes a session with
    /// the same identifier, and finds its tasks: `getAllTasks` lists them, and the delegate receives the events that
    /// occurred in the meantime.
    ///
    /// - The session needs a delegate. Tasks with completion handlers and asynchronous calls are errors that end the
    ///   program, as on Apple's systems; so are uploads of data and of streams, WebSocket tasks and stream tasks.
    /// - URLs are `http` and `https`. Redirects are always followed, and ``protocolClasses`` are not used. With
    ///   settings that cannot be transmitted to another process, such as ``interceptors``, the session is invalidated:
    ///   see the table in <doc:BackgroundSessions>.
    /// - Data tasks run in the program, and end with it.
    /// - A transfer that fails is retried, and resumed where the server permits it, until
    ///   ``timeoutIntervalForResource`` has passed. ``waitsForConnectivity`` counts as true.
    /// - One session at a time may have an identifier. A second session with it is invalidated with
    ///   `URLError.backgroundSessionInUseByAnotherProcess`.
    ///
    /// Cookies and credentials are those of the program's stores on disk (``storeIdentifier``); stores in memory only
    /// are not used. There is no cache. See <doc:BackgroundSessions>.
    ///
    /// - Parameter identifier: Any text that is not empty. It distinguishes the sessions of one program; other programs
    ///   may use the same identifier.
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = nil
        configuration.waitsForConnectivity = true
        configuration.sessionSendsLaunchEvents = true
        configuration.settings.identifier = identifier
        configuration.settings.makeBackground = BackgroundSession.maker {
            try BackgroundComposition.channels($0, identifier: identifier)
        }
        return configuration
    }

    /// The former name of ``background(withIdentifier:)``.
    @available(*, deprecated, renamed: "background(withIdentifier:)")
    public class func backgroundSessionConfiguration(_ identifier: String) -> URLSessionConfiguration {
        background(withIdentifier: identifier)
    }
}

extension URLSession {
    /// The identifiers of the background sessions for which this process was started, by
    /// ``URLSessionConfiguration/backgroundLaunchCommand``: the program should make these sessions, so that their
    /// delegates get the pending events. Empty where the process was started in another way.
    ///
    /// It replaces `application(_:handleEventsForBackgroundURLSession:completionHandler:)` of Apple's systems, and
    /// exists only in LoadingKit.
    public static var backgroundSessionsToHandle: [String] {
        ProcessInfo.processInfo.environment["LOADKIT_BACKGROUND_SESSION"].map { [$0] } ?? []
    }
}
