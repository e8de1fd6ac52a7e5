import Foundation
import LoadingKitCore

extension URLSessionConfiguration {
    /// A new configuration for a background session: its downloads, and its uploads of files, go on while the program is
    /// suspended, when it ends, is killed, or is replaced by a newer version.
    ///
    /// They are made by the user's daemon, which is started where there is none (``LoadingKitBackground``), or with
    /// ``runsInProcess`` by the program whenever it runs. A later run of the program makes a session with the same identifier,
    /// and finds its tasks: `getAllTasks` lists them, and the delegate is told what happened meanwhile.
    ///
    /// - The session needs a delegate. Tasks with completion handlers and asynchronous calls are mistakes that end the program,
    ///   as they do on Apple's systems; so are uploads of data and of streams, WebSocket tasks and stream tasks.
    /// - URLs are `http` and `https`. Redirects are always followed, and ``protocolClasses`` are not used. With settings that another
    ///   process cannot be told of, such as ``interceptors``, the session is invalidated: see the table in <doc:BackgroundSessions>.
    /// - Data tasks run in the program, and end with it.
    /// - A transfer that breaks is tried again, and continued where the server allows it, until
    ///   ``timeoutIntervalForResource`` is over. ``waitsForConnectivity`` counts as true.
    /// - One session at a time has an identifier. Another one is invalidated with
    ///   `URLError.backgroundSessionInUseByAnotherProcess`.
    ///
    /// Cookies and credentials are those of the program's stores on disk (``storeIdentifier``); those in memory alone are not
    /// used. There is no cache. See <doc:BackgroundSessions>.
    ///
    /// - Parameter identifier: Any text that is not empty. It distinguishes the sessions of one program; other programs may have
    ///   the same.
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = nil
        configuration.waitsForConnectivity = true
        configuration.sessionSendsLaunchEvents = true
        configuration.settings.identifier = identifier
        configuration.settings.backgroundSupport = { try BackgroundComposition.support($0, identifier: identifier) }
        return configuration
    }

    /// The first name of ``background(withIdentifier:)``.
    @available(*, deprecated, renamed: "background(withIdentifier:)")
    public class func backgroundSessionConfiguration(_ identifier: String) -> URLSessionConfiguration {
        background(withIdentifier: identifier)
    }
}

extension URLSession {
    /// The identifiers of the background sessions for which this process was started, by
    /// ``URLSessionConfiguration/backgroundLaunchCommand``: the program should make them, so that their delegates get what there
    /// is. Empty where it was started otherwise.
    ///
    /// It stands for `application(_:handleEventsForBackgroundURLSession:completionHandler:)` of Apple's systems, and is
    /// LoadingKit's own.
    public static var backgroundSessionsToHandle: [String] {
        ProcessInfo.processInfo.environment["LOADKIT_BACKGROUND_SESSION"].map { [$0] } ?? []
    }
}
