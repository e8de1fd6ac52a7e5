@_exported import LoadingKitCore
import LoadingKitDataURL
import LoadingKitFile
import LoadingKitHTTP
import LoadingKitPersistence

extension URLSessionConfiguration {
    /// The handlers of the schemes that come with LoadingKit, in the order in which they are tried.
    static let builtInHandlers: [any BuiltInHandler.Type] = [
        HTTPProtocolHandler.self, FileHandler.self, DataURLHandler.self, WebSocketHandler.self, FTPHandler.self,
    ]

    /// A new configuration with the default settings.
    public class var `default`: URLSessionConfiguration {
        let configuration = URLSessionConfiguration(builtIn: builtInHandlers, cache: .shared)
        configuration.httpCookieStorage = .shared
        configuration.urlCredentialStorage = .shared
        configuration.settings.hsts = .shared
        configuration.settings.followEnvironment()
        return configuration
    }

    /// A new configuration whose sessions store nothing on disk: their cache, cookies and credentials are in memory,
    /// and not shared with other sessions.
    ///
    /// The sessions of one configuration, and of its copies, share these stores. They are cleared when the last of
    /// these sessions is invalidated.
    public class var ephemeral: URLSessionConfiguration {
        let configuration = URLSessionConfiguration(
            builtIn: builtInHandlers, cache: URLCache(memoryCapacity: URLCache.defaultMemoryCapacity))
        configuration.httpCookieStorage = HTTPCookieStorage()
        configuration.urlCredentialStorage = URLCredentialStorage()
        configuration.settings.ownStores()
        configuration.settings.followEnvironment()
        return configuration
    }
}

/// Core finds this class by its name, for `URLSessionConfiguration()`.
final class DefaultSettings: DefaultSettingsComposition {
    static let makeSettings: @Sendable () -> SessionSettings = { URLSessionConfiguration.default.settings }
}

extension URLSession {
    private static let sharedSession: URLSession = SharedSession.make(.default)

    /// The session for the whole process, with the default configuration and no delegate. It cannot be invalidated.
    public class var shared: URLSession { sharedSession }
}
