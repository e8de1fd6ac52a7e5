extension NSURLRequest {
    /// How the cache is used. The numbers are Apple's.
    public enum CachePolicy: UInt, Sendable {
        /// As the protocol says: for HTTP, RFC 9111.
        case useProtocolCachePolicy = 0
        /// Always from the source.
        case reloadIgnoringLocalCacheData = 1
        /// From the cache whatever its age; from the source when the cache has nothing.
        case returnCacheDataElseLoad = 2
        /// From the cache whatever its age; an error when the cache has nothing.
        case returnCacheDataDontLoad = 3
        /// Always from the source, also where a cache on the way has a response.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// From the cache only after the source has confirmed that the response is still current.
        case reloadRevalidatingCacheData = 5

        /// The older name of ``reloadIgnoringLocalCacheData``.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }

    /// What kind of traffic a request is. The numbers are Apple's.
    public enum NetworkServiceType: UInt, Sendable {
        /// Ordinary traffic.
        case `default` = 0
        /// Control traffic of voice over IP.
        case voip = 1
        /// Video.
        case video = 2
        /// Traffic for which no user waits.
        case background = 3
        /// Voice.
        case voice = 4
        /// Data for which a user waits.
        case responsiveData = 6
        /// Streamed audio and video.
        case avStreaming = 8
        /// Audio and video for which a user waits.
        case responsiveAV = 9
        /// Signalling of calls.
        case networkServiceTypeCallSignaling = 11
    }

    /// Who asked for a request.
    public enum Attribution: UInt, Sendable {
        /// The program itself.
        case developer = 0
        /// Its user, by following a link or the like.
        case user = 1
    }
}
