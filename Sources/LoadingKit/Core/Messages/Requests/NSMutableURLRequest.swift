import Foundation

/// A request as a mutable object; see ``URLRequest``.
///
/// As on Apple's systems, only one thread at a time may use it. A session copies the request first.
open class NSMutableURLRequest: NSURLRequest, @unchecked Sendable {  // used by one thread at a time, as documented
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
    public override init(url: URL, cachePolicy: CachePolicy, timeoutInterval: TimeInterval) {
        super.init(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
    }

    package override init(request: URLRequest) { super.init(request: request) }

    /// Decodes the result of `encode(with:)`; nil when the archive is not keyed, or lacks a required value.
    public required init?(coder aDecoder: NSCoder) { super.init(coder: aDecoder) }

    /// An immutable request with the same content.
    open override func copy(with zone: NSZone? = nil) -> Any { NSURLRequest(request: request) }

    /// Replaces the value of a field, or removes the field when `value` is nil.
    open func setValue(_ value: String?, forHTTPHeaderField field: String) {
        request.setValue(value, forHTTPHeaderField: field)
    }

    /// Adds a value to a field: a comma and the value, after the field's existing values.
    open func addValue(_ value: String, forHTTPHeaderField field: String) {
        request.addValue(value, forHTTPHeaderField: field)
    }

    /// Sets a property that protocol handlers store with the request.
    package func setProperty(_ value: Any?, forKey key: String) { request.properties[key] = value }

    /// The URL to load.
    open override var url: URL? {
        get { request.url }
        set { request.url = newValue }
    }

    /// The URL of the document that this request belongs to.
    open override var mainDocumentURL: URL? {
        get { request.mainDocumentURL }
        set { request.mainDocumentURL = newValue }
    }

    /// The method. Nil sets `GET`; the case of well-known methods is corrected.
    open override var httpMethod: String? {
        get { request.httpMethod }
        set { request.httpMethod = newValue }
    }

    /// The header fields; setting replaces all of them.
    open override var allHTTPHeaderFields: [String: String]? {
        get { request.allHTTPHeaderFields }
        set { request.allHTTPHeaderFields = newValue }
    }

    /// The body, or nil. Setting it removes ``httpBodyStream``.
    open override var httpBody: Data? {
        get { request.httpBody }
        set { request.httpBody = newValue }
    }

    /// The stream with the body, or nil. Setting it removes ``httpBody``.
    open override var httpBodyStream: InputStream? {
        get { request.httpBodyStream }
        set { request.httpBodyStream = newValue }
    }

    /// The cache policy.
    open override var cachePolicy: CachePolicy {
        get { request.cachePolicy }
        set { request.cachePolicy = newValue }
    }

    /// Seconds without progress after which the load fails; 60 unless set.
    open override var timeoutInterval: TimeInterval {
        get { request.timeoutInterval }
        set { request.timeoutInterval = newValue }
    }

    /// The kind of the request's traffic.
    open override var networkServiceType: NetworkServiceType {
        get { request.networkServiceType }
        set { request.networkServiceType = newValue }
    }

    /// Whether cookies are sent and stored; true unless set.
    open override var httpShouldHandleCookies: Bool {
        get { request.httpShouldHandleCookies }
        set { request.httpShouldHandleCookies = newValue }
    }

    /// Whether the request may be pipelined: ``URLRequest/httpShouldUsePipelining``.
    open override var httpShouldUsePipelining: Bool {
        get { request.httpShouldUsePipelining }
        set { request.httpShouldUsePipelining = newValue }
    }

    /// Whether a cellular network may be used; true unless set.
    open override var allowsCellularAccess: Bool {
        get { request.allowsCellularAccess }
        set { request.allowsCellularAccess = newValue }
    }

    /// Whether a network may be used on which the user wants to save data; true unless set.
    open override var allowsConstrainedNetworkAccess: Bool {
        get { request.allowsConstrainedNetworkAccess }
        set { request.allowsConstrainedNetworkAccess = newValue }
    }

    /// Whether an expensive network may be used; true unless set.
    open override var allowsExpensiveNetworkAccess: Bool {
        get { request.allowsExpensiveNetworkAccess }
        set { request.allowsExpensiveNetworkAccess = newValue }
    }

    /// See ``URLRequest/allowsUltraConstrainedNetworkAccess``, which has no effect on Linux.
    open override var allowsUltraConstrainedNetworkAccess: Bool {
        get { request.allowsUltraConstrainedNetworkAccess }
        set { request.allowsUltraConstrainedNetworkAccess = newValue }
    }

    /// See ``URLRequest/allowsPersistentDNS``, which has no effect.
    open override var allowsPersistentDNS: Bool {
        get { request.allowsPersistentDNS }
        set { request.allowsPersistentDNS = newValue }
    }

    /// See ``URLRequest/cookiePartitionIdentifier``, which has no effect.
    open override var cookiePartitionIdentifier: String? {
        get { request.cookiePartitionIdentifier }
        set { request.cookiePartitionIdentifier = newValue }
    }

    /// See ``URLRequest/assumesHTTP3Capable``, which has no effect.
    open override var assumesHTTP3Capable: Bool {
        get { request.assumesHTTP3Capable }
        set { request.assumesHTTP3Capable = newValue }
    }

    /// Whether the host's name must be validated by DNSSEC: ``URLRequest/requiresDNSSECValidation``.
    open override var requiresDNSSECValidation: Bool {
        get { request.requiresDNSSECValidation }
        set { request.requiresDNSSECValidation = newValue }
    }

    /// See ``URLRequest/attribution``, which has no effect.
    open override var attribution: Attribution {
        get { request.attribution }
        set { request.attribution = newValue }
    }
}
