import Foundation

/// A request as an immutable object; see ``URLRequest``.
open class NSURLRequest: NSObject, NSSecureCoding, NSCopying, NSMutableCopying, @unchecked Sendable {  // see `request`
    // Only `NSMutableURLRequest` changes it. As on Apple's systems, only one thread at a time may use a mutable
    // request.
    package internal(set) var request: URLRequest

    /// Makes a GET request with the default cache policy and a timeout of 60 seconds.
    public convenience init(url: URL) {
        self.init(request: URLRequest(url: url))
    }

    /// Makes a GET request.
    ///
    /// - Parameters:
    ///   - url: The URL to load.
    ///   - cachePolicy: The cache policy.
    ///   - timeoutInterval: Seconds without progress after which the load fails.
    public init(url: URL, cachePolicy: CachePolicy, timeoutInterval: TimeInterval) {
        request = URLRequest(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
    }

    package init(request: URLRequest) { self.request = request }

    /// Decodes the result of ``encode(with:)``; nil when the archive is not keyed, or lacks a required value.
    public required init?(coder aDecoder: NSCoder) {
        guard let request = URLRequest(coder: aDecoder) else { return nil }
        self.request = request
    }

    /// Encodes the request into a keyed archive. A body stream cannot be encoded and is left out.
    open func encode(with aCoder: NSCoder) { request.encode(with: aCoder) }

    /// True: archives may be decoded securely.
    open class var supportsSecureCoding: Bool { true }

    // MARK: Copies

    /// The same as ``copy(with:)``.
    open override func copy() -> Any { copy(with: nil) }

    /// An immutable request with the same content.
    open func copy(with zone: NSZone? = nil) -> Any {
        type(of: self) == NSURLRequest.self ? self : NSURLRequest(request: request)
    }

    /// The same as ``mutableCopy(with:)``.
    open override func mutableCopy() -> Any { mutableCopy(with: nil) }

    /// A mutable request with the same content.
    open func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableURLRequest(request: request) }

    /// Whether both requests load the same resource in the same way.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSURLRequest).map { $0 === self || $0.request == request } ?? false
    }

    /// Agrees with ``isEqual(_:)``.
    open override var hash: Int { request.hashValue }

    /// The class and the URL.
    open override var description: String { "<\(type(of: self))> { URL: \(url?.absoluteString ?? "(null)") }" }

    // MARK: Properties

    /// The URL to load.
    open var url: URL? { request.url }

    /// The URL of the document that this request belongs to.
    open var mainDocumentURL: URL? { request.mainDocumentURL }

    /// The method, `GET` unless another was set.
    open internal(set) var httpMethod: String? {
        get { request.httpMethod }
        set { request.httpMethod = newValue }
    }

    /// The header fields, or nil when none were set.
    open var allHTTPHeaderFields: [String: String]? { request.allHTTPHeaderFields }

    /// The value of a field, regardless of the case of its name, or nil.
    open func value(forHTTPHeaderField field: String) -> String? { request.value(forHTTPHeaderField: field) }

    /// The body, or nil.
    open var httpBody: Data? { request.httpBody }

    /// The stream with the body, or nil.
    open var httpBodyStream: InputStream? { request.httpBodyStream }

    /// The cache policy.
    open var cachePolicy: CachePolicy { request.cachePolicy }

    /// Seconds without progress after which the load fails.
    open var timeoutInterval: TimeInterval { request.timeoutInterval }

    /// The kind of the request's traffic.
    open var networkServiceType: NetworkServiceType { request.networkServiceType }

    /// Whether cookies are sent and stored.
    open var httpShouldHandleCookies: Bool { request.httpShouldHandleCookies }

    /// Whether the request may be pipelined: ``URLRequest/httpShouldUsePipelining``.
    open var httpShouldUsePipelining: Bool { request.httpShouldUsePipelining }

    /// Whether a cellular network may be used.
    open var allowsCellularAccess: Bool { request.allowsCellularAccess }

    /// Whether a network may be used on which the user wants to save data.
    open var allowsConstrainedNetworkAccess: Bool { request.allowsConstrainedNetworkAccess }

    /// Whether an expensive network may be used.
    open var allowsExpensiveNetworkAccess: Bool { request.allowsExpensiveNetworkAccess }

    /// See ``URLRequest/allowsUltraConstrainedNetworkAccess``, which has no effect on Linux.
    open var allowsUltraConstrainedNetworkAccess: Bool { request.allowsUltraConstrainedNetworkAccess }

    /// See ``URLRequest/allowsPersistentDNS``, which has no effect.
    open var allowsPersistentDNS: Bool { request.allowsPersistentDNS }

    /// See ``URLRequest/cookiePartitionIdentifier``, which has no effect.
    open var cookiePartitionIdentifier: String? { request.cookiePartitionIdentifier }

    /// See ``URLRequest/assumesHTTP3Capable``, which has no effect.
    open var assumesHTTP3Capable: Bool { request.assumesHTTP3Capable }

    /// Whether the host's name must be validated by DNSSEC: ``URLRequest/requiresDNSSECValidation``.
    open var requiresDNSSECValidation: Bool { request.requiresDNSSECValidation }

    /// See ``URLRequest/attribution``, which has no effect.
    open var attribution: Attribution { request.attribution }
}

extension NSURLRequest {
    /// The cache policy. The numbers are Apple's.
    public enum CachePolicy: UInt, Sendable {
        /// By the rules of the protocol: for HTTP, RFC 9111.
        case useProtocolCachePolicy = 0
        /// Always from the source.
        case reloadIgnoringLocalCacheData = 1
        /// From the cache regardless of the response's age; from the source when the cache has no response.
        case returnCacheDataElseLoad = 2
        /// From the cache regardless of the response's age; an error when the cache has no response.
        case returnCacheDataDontLoad = 3
        /// Always from the source, even where an intermediate cache has a response.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// From the cache only after the source has confirmed that the response is still valid.
        case reloadRevalidatingCacheData = 5

        /// The older name of ``reloadIgnoringLocalCacheData``.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }

    /// The kind of a request's traffic. The numbers are Apple's.
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

    /// The originator of a request.
    public enum Attribution: UInt, Sendable {
        /// The program itself.
        case developer = 0
        /// Its user, for example by following a link.
        case user = 1
    }
}
