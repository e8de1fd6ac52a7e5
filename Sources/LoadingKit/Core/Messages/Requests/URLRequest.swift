import Foundation
import LoadingKitPrimitives

/// A request: a URL, a method, fields, a body, and the rules for cache, cookies and timeouts.
///
/// Follows Apple's `URLRequest`. A request is a value of one word. Copies share their storage until one of them
/// changes.
public struct URLRequest: Sendable {
    /// The class that this value bridges to.
    public typealias ReferenceType = NSURLRequest
    /// The cache policy.
    public typealias CachePolicy = NSURLRequest.CachePolicy
    /// The kind of the request's traffic.
    public typealias NetworkServiceType = NSURLRequest.NetworkServiceType
    /// The originator of the request: the program or its user.
    public typealias Attribution = NSURLRequest.Attribution

    static let defaultTimeoutInterval: TimeInterval = 60

    var storage: RequestStorage

    /// Makes a GET request.
    ///
    /// - Parameters:
    ///   - url: The URL to load. A relative URL is made absolute.
    ///   - cachePolicy: The cache policy.
    ///   - timeoutInterval: Seconds without progress after which the load fails. With the default, 60, the session's
    ///     `timeoutIntervalForRequest` applies.
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {
        storage = RequestStorage(url: url.baseURL == nil ? url : url.absoluteURL)
        storage.options.cachePolicy = cachePolicy
        storage.timeoutInterval = timeoutInterval
        storage.options.hasExplicitTimeout = timeoutInterval != Self.defaultTimeoutInterval
    }

    init(storage: RequestStorage) { self.storage = storage }

    /// The storage for changes: copied first if other requests share it.
    private var unique: RequestStorage {
        mutating get {
            if !isKnownUniquelyReferenced(&storage) { storage = RequestStorage(copying: storage) }
            return storage
        }
    }

    // MARK: The resource

    /// The URL to load.
    public var url: URL? {
        get { storage.url }
        set { unique.url = newValue }
    }

    /// The URL of the document that this request belongs to: the "first party" when cookies are accepted and sent.
    ///
    /// Nil means that the program makes the request for itself: cookies are sent regardless of their `SameSite` value
    /// (RFC 6265bis §5.2). With the URL of another site, only cookies with `SameSite=None` are sent and accepted.
    public var mainDocumentURL: URL? {
        get { storage.mainDocumentURL }
        set { unique.mainDocumentURL = newValue }
    }

    /// The method. Nil sets `GET`; the case of `get`, `head`, `post`, `put`, `delete` and `connect` is corrected.
    public var httpMethod: String? {
        get { storage.method }
        set { unique.method = Self.normalizedMethod(newValue) }
    }

    /// The body, or nil when there is none or it is a stream. Setting it removes ``httpBodyStream``.
    public var httpBody: Data? {
        get { if case .data(let data) = storage.body { data } else { nil } }
        set { unique.body = newValue.map { .data($0) } ?? .none }
    }

    /// The stream with the body, or nil. Setting it removes ``httpBody``.
    public var httpBodyStream: InputStream? {
        get { if case .stream(let stream) = storage.body { stream } else { nil } }
        set { unique.body = newValue.map { .stream($0) } ?? .none }
    }

    /// The file with the body, or nil. Setting it removes ``httpBody`` and ``httpBodyStream``.
    package var bodyFile: BodyFile? {
        get { if case .file(let file) = storage.body { file } else { nil } }
        set { unique.body = newValue.map { .file($0) } ?? .none }
    }

    package var hasBody: Bool { if case .none = storage.body { false } else { true } }

    /// The body's size in bytes; `NSURLSessionTransferSizeUnknown` for a stream without ``statedLength``, and for a
    /// file that was not measured.
    var countOfBody: Int64 {
        switch storage.body {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .stream: countOfStream
        case .file(let file): file.size ?? NSURLSessionTransferSizeUnknown
        }
    }

    /// The size of a stream that is the body.
    var countOfStream: Int64 { statedLength.map { Int64(clamping: $0) } ?? NSURLSessionTransferSizeUnknown }

    /// The value of `Content-Length`, which is the length of a stream.
    package var statedLength: UInt64? { storage.fields[.contentLength].flatMap { UInt64($0) } }

    /// The request with the body of another one.
    func withBody(of other: URLRequest) -> URLRequest {
        var request = self
        request.unique.body = other.storage.body
        return request
    }

    // MARK: Fields

    /// The header fields. Names are compared regardless of their case; nil until a field was set.
    ///
    /// Setting replaces all fields.
    public var allHTTPHeaderFields: [String: String]? {
        get { storage.options.hasSetFields ? storage.fields.dictionary(joinedBy: ",") : nil }
        set {
            let storage = unique
            storage.fields = HTTPFields(lastOfEach: newValue ?? [:])
            storage.options.hasSetFields = newValue != nil
        }
    }

    /// The value of a field, regardless of the case of `field`; several values are joined with commas. Nil when absent.
    public func value(forHTTPHeaderField field: String) -> String? {
        storage.fields[name: field]
    }

    /// Replaces the value of a field, or removes the field when `value` is nil.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        let storage = unique
        guard let value else { return storage.fields.remove(name: field) }
        storage.fields.setKeepingSpelling(name: field, value: value)
        storage.options.hasSetFields = true
    }

    /// Adds a value to a field: a comma and the value, after the field's existing values.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        let present = storage.fields[name: field]
        setValue(present.map { "\($0),\(value)" } ?? value, forHTTPHeaderField: field)
    }

    /// The header fields in their order; does not make a dictionary.
    package var fields: HTTPFields {
        get { storage.fields }
        set {
            let storage = unique
            storage.fields = newValue
            storage.options.hasSetFields = !newValue.isEmpty
        }
    }

    // MARK: Rules

    /// The cache policy. A session's ``URLSessionConfiguration/requestCachePolicy`` takes precedence where it is
    /// stricter.
    public var cachePolicy: CachePolicy {
        get { storage.options.cachePolicy }
        set { unique.options.cachePolicy = newValue }
    }

    /// Seconds without progress after which the load fails; 60 unless set. A session's
    /// ``URLSessionConfiguration/timeoutIntervalForRequest`` takes precedence where it was set to a smaller value.
    public var timeoutInterval: TimeInterval {
        get { storage.timeoutInterval }
        set {
            let storage = unique
            storage.timeoutInterval = newValue
            storage.options.hasExplicitTimeout = true
        }
    }

    /// Whether the timeout was set on this request. It then takes precedence over the session's timeout.
    package var hasExplicitTimeout: Bool { storage.options.hasExplicitTimeout }

    /// The kind of the request's traffic.
    public var networkServiceType: NetworkServiceType {
        get { storage.options.networkServiceType }
        set { unique.options.networkServiceType = newValue }
    }

    /// Whether cookies are sent and stored; true unless set.
    public var httpShouldHandleCookies: Bool {
        get { storage.options.httpShouldHandleCookies }
        set { unique.options.httpShouldHandleCookies = newValue }
    }

    /// Whether the request may be sent on an HTTP/1.1 connection before the requests ahead of it are answered, even if
    /// the session does not permit it: see ``URLSessionConfiguration/httpShouldUsePipelining``. Default false.
    public var httpShouldUsePipelining: Bool {
        get { storage.options.httpShouldUsePipelining }
        set { unique.options.httpShouldUsePipelining = newValue }
    }

    /// Whether a cellular network may be used; true unless set.
    public var allowsCellularAccess: Bool {
        get { storage.options.allowsCellularAccess }
        set { unique.options.allowsCellularAccess = newValue }
    }

    /// Whether a network may be used on which the user wants to save data; true unless set.
    public var allowsConstrainedNetworkAccess: Bool {
        get { storage.options.allowsConstrainedNetworkAccess }
        set { unique.options.allowsConstrainedNetworkAccess = newValue }
    }

    /// Whether an expensive network may be used; true unless set.
    public var allowsExpensiveNetworkAccess: Bool {
        get { storage.options.allowsExpensiveNetworkAccess }
        set { unique.options.allowsExpensiveNetworkAccess = newValue }
    }

    /// Whether a network with very little capacity may be used, such as a satellite network; true unless set. It has no
    /// effect, because Linux has no such setting for interfaces.
    public var allowsUltraConstrainedNetworkAccess: Bool {
        get { storage.options.allowsUltraConstrainedNetworkAccess }
        set { unique.options.allowsUltraConstrainedNetworkAccess = newValue }
    }

    /// Whether addresses from an earlier lookup may be used while the name is looked up; false unless set. It has no
    /// effect, because no addresses are stored on disk.
    public var allowsPersistentDNS: Bool {
        get { storage.options.allowsPersistentDNS }
        set { unique.options.allowsPersistentDNS = newValue }
    }

    /// The site in whose pages partitioned cookies are used; nil unless set. It has no effect, because cookies are not
    /// partitioned: a session may have its own cookie storage.
    public var cookiePartitionIdentifier: String? {
        get { storage.cookiePartitionIdentifier }
        set { unique.cookiePartitionIdentifier = newValue }
    }

    /// Whether the server is known to support HTTP/3; false unless set. It has no effect, because LoadingKit has no
    /// HTTP/3.
    public var assumesHTTP3Capable: Bool {
        get { storage.options.assumesHTTP3Capable }
        set { unique.options.assumesHTTP3Capable = newValue }
    }

    /// Whether the response's body is delivered with the server's content codings (`Content-Encoding`); false unless
    /// set. The program then gets the decoded body, as on Apple's systems, unless
    /// ``URLSessionConfiguration/keepsContentCodings`` is set.
    ///
    /// For programs that decode the body themselves, forward it, or store it: set `Accept-Encoding` to the permitted
    /// codings. The response's `expectedContentLength` is then the length of the coded body. Such a response is neither
    /// read from the session's cache nor stored there. Only `http` and `https` have content codings.
    public var keepsContentCodings: Bool {
        get { storage.options.keepsContentCodings }
        set { unique.options.keepsContentCodings = newValue }
    }

    /// Whether redirects are followed; true unless set. If false, the redirecting response is the load's response, with its
    /// body, and the delegate is not asked. A property of LoadingKit: on Apple's systems a delegate decides.
    public var followsRedirects: Bool {
        get { storage.options.followsRedirects }
        set { unique.options.followsRedirects = newValue }
    }

    /// Whether the host's name must be validated by DNSSEC; false unless set. If true, a request whose host is a name
    /// fails: see ``URLSessionConfiguration/requiresDNSSECValidation``.
    public var requiresDNSSECValidation: Bool {
        get { storage.options.requiresDNSSECValidation }
        set { unique.options.requiresDNSSECValidation = newValue }
    }

    /// Whether the program itself or its user makes the request; the developer unless set. It has no effect: it serves
    /// the privacy reports of Apple's systems.
    public var attribution: Attribution {
        get { storage.options.attribution }
        set { unique.options.attribution = newValue }
    }

    /// The properties that protocol handlers store with the request (`URLProtocol.property(forKey:in:)`). Copies have
    /// them, too.
    package var properties: [String: Any] {
        get { storage.properties }
        set { unique.properties = newValue }
    }

    /// Apple corrects the case of these methods only; others are case-sensitive (RFC 9110 §9.1) and unchanged.
    private static func normalizedMethod(_ method: String?) -> String {
        guard let method else { return "GET" }
        let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT"]
        return known.first { $0.equalsIgnoringASCIICase(method) } ?? method
    }
}
