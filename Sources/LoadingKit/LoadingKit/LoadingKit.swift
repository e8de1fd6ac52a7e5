@_exported import LoadingKitCore
import LoadingKitDataURL
import LoadingKitFile
import LoadingKitHTTP

extension URLSessionConfiguration {
    /// The handlers of the schemes that come with LoadingKit, in the order in which they are asked.
    static let builtInHandlers: [URLProtocolHandler.Type] = [
        HTTPProtocolHandler.self, FileHandler.self, DataURLHandler.self,
    ]

    /// A new configuration with the default settings.
    public class var `default`: URLSessionConfiguration {
        URLSessionConfiguration(builtIn: builtInHandlers, cache: .shared)
    }

    /// A new configuration whose sessions keep nothing on disk: their cache is in memory, and theirs alone.
    public class var ephemeral: URLSessionConfiguration {
        URLSessionConfiguration(
            builtIn: builtInHandlers,
            cache: URLCache(memoryCapacity: URLCache.defaultMemoryCapacity, diskCapacity: 0, diskPath: nil))
    }
}

extension URLSession {
    private static let sharedSession: URLSession = SharedSession.make(.default)

    /// A session for the whole process, with the default configuration and no delegate. It cannot be invalidated.
    public class var shared: URLSession { sharedSession }
}
