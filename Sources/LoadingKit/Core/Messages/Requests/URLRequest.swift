import Foundation
import LoadingKitPrimitives

/// What to load and how: a URL, a method, fields, a body, and the rules for cache, cookies and timeouts.
///
/// Follows Apple's `URLRequest`. A request is a value of one word; copies share their storage until one changes.
public struct URLRequest: Sendable {
    /// The class that this value bridges to.
    public typealias ReferenceType = NSURLRequest
    /// How the cache is used.
    public typealias CachePolicy = NSURLRequest.CachePolicy
    /// What kind of traffic the request is.
    public typealias NetworkServiceType = NSURLRequest.NetworkServiceType
    /// Who asked for the request: the program or its user.
    public typealias Attribution = NSURLRequest.Attribution

    static let defaultTimeoutInterval: TimeInterval = 60

    var storage: RequestStorage

    /// Makes a GET request.
    ///
    /// - Parameters:
    ///   - url: What to load. A relative URL is made absolute.
    ///   - cachePolicy: How the cache is used.
    ///   - timeoutInterval: Seconds without progress after which the load fails. The default, 60, lets the session's
    ///     `timeoutIntervalForRequest` decide.
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {
        storage = RequestStorage(url: url.baseURL == nil ? url : url.absoluteURL)
        storage.options.cachePolicy = cachePolicy
        storage.timeoutInterval = timeoutInterval
        storage.options.hasExplicitTimeout = timeoutInterval != Self.defaultTimeoutInterval
    }

    init(storage: RequestStorage) { self.storage = storage }

    /// The storage for changes: a copy of it, if other requests share it.
    private var unique: RequestStorage {
        mutating get {
            if !isKnownUniquelyReferenced(&storage) { storage = RequestStorage(copying: storage) }
            return storage
        }
    }

    // MARK: What to load

    /// The URL to load.
    public var url: URL? {
        get { storage.url }
        set { unique.url = newValue }
    }

    /// The URL of the document that this request belongs to: the "first party" when cookies are accepted and sent.
    ///
    /// Nil means that the program makes the request for itself: cookies are sent whatever their `SameSite` is (RFC
    /// 6265bis §5.2). With the URL of another site, only cookies with `SameSite=None` are sent and accepted.
    public var mainDocumentURL: URL? {
        get { storage.mainDocumentURL }
        set { unique.mainDocumentURL = newValue }
    }

    /// The method. Nil sets `GET`; the case of `get`, `head`, `post`, `put`, `delete` and `connect` is corrected.
    public var httpMethod: String? {
        get { storage.method }
        set { unique.method = Self.normalizedMethod(newValue) }
    }

    /// The body, or nil when there is none or it is a stream. Setting it takes the stream away.
    public var httpBody: Data? {
        get {
            switch storage.body {
            case .data(let data): data
            case .none, .stream, .file: nil
            }
        }
        set { unique.body = newValue.map { .data($0) } ?? .none }
    }

    /// The stream that gives the body, or nil. Setting it takes ``httpBody`` away.
    public var httpBodyStream: InputStream? {
        get {
            switch storage.body {
            case .stream(let stream): stream
            case .none, .data, .file: nil
            }
        }
        set { unique.body = newValue.map { .stream($0) } ?? .none }
    }

    /// The file that gives the body, or nil. Setting it takes ``httpBody`` and ``httpBodyStream`` away.
    package var bodyFile: BodyFile? {
        get {
            switch storage.body {
            case .file(let file): file
            case .none, .data, .stream: nil
            }
        }
        set { unique.body = newValue.map { .file($0) } ?? .none }
    }

    /// Whether there is a body, as data, a stream or a file.
    package var hasBody: Bool {
        switch storage.body {
        case .none: false
        case .data, .stream, .file: true
        }
    }

    // MARK: Fields

    /// The header fields. Names are found whatever their case; nil until any was set.
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

    /// The value of a field, whatever the case of `field`; several values are joined with commas. Nil when absent.
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

    /// Adds a value to a field: after the values that it has, and a comma.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        let present = storage.fields[name: field]
        setValue(present.map { "\($0),\(value)" } ?? value, forHTTPHeaderField: field)
    }

    /// The header fields in their order, without making a dictionary.
    package var fields: HTTPFields {
        get { storage.fields }
        set {
            let storage = unique
            storage.fields = newValue
            storage.options.hasSetFields = !newValue.isEmpty
        }
    }

    // MARK: Rules

    /// How the cache is used. A session's ``URLSessionConfiguration/requestCachePolicy`` that is stricter holds instead.
    public var cachePolicy: CachePolicy {
        get { storage.options.cachePolicy }
        set { unique.options.cachePolicy = newValue }
    }

    /// Seconds without progress after which the load fails; 60 unless set. A session's
    /// ``URLSessionConfiguration/timeoutIntervalForRequest`` that was set to less holds instead.
    public var timeoutInterval: TimeInterval {
        get { storage.timeoutInterval }
        set {
            let storage = unique
            storage.timeoutInterval = newValue
            storage.options.hasExplicitTimeout = true
        }
    }

    /// Whether the timeout was set on this request, so that it counts instead of the session's.
    package var hasExplicitTimeout: Bool { storage.options.hasExplicitTimeout }

    /// What kind of traffic the request is.
    public var networkServiceType: NetworkServiceType {
        get { storage.options.networkServiceType }
        set { unique.options.networkServiceType = newValue }
    }

    /// Whether cookies are sent and kept; true unless set.
    public var httpShouldHandleCookies: Bool {
        get { storage.options.httpShouldHandleCookies }
        set { unique.options.httpShouldHandleCookies = newValue }
    }

    /// Whether the request may be sent on an HTTP/1.1 connection before the requests ahead of it are answered, even if
    /// the session does not allow it: see ``URLSessionConfiguration/httpShouldUsePipelining``. Default false.
    public var httpShouldUsePipelining: Bool {
        get { storage.options.httpShouldUsePipelining }
        set { unique.options.httpShouldUsePipelining = newValue }
    }

    /// Whether a cellular network may be used; true unless set.
    public var allowsCellularAccess: Bool {
        get { storage.options.allowsCellularAccess }
        set { unique.options.allowsCellularAccess = newValue }
    }

    /// Whether a network may be used whose user asked to save data; true unless set.
    public var allowsConstrainedNetworkAccess: Bool {
        get { storage.options.allowsConstrainedNetworkAccess }
        set { unique.options.allowsConstrainedNetworkAccess = newValue }
    }

    /// Whether an expensive network may be used; true unless set.
    public var allowsExpensiveNetworkAccess: Bool {
        get { storage.options.allowsExpensiveNetworkAccess }
        set { unique.options.allowsExpensiveNetworkAccess = newValue }
    }

    /// Whether a network with very little capacity may be used, such as a satellite's; true unless set. It has no effect, as Linux
    /// has no such setting for interfaces.
    public var allowsUltraConstrainedNetworkAccess: Bool {
        get { storage.options.allowsUltraConstrainedNetworkAccess }
        set { unique.options.allowsUltraConstrainedNetworkAccess = newValue }
    }

    /// Whether addresses that were found earlier may be used while the name is looked up; false unless set. It has no effect, as no
    /// addresses are kept on disk.
    public var allowsPersistentDNS: Bool {
        get { storage.options.allowsPersistentDNS }
        set { unique.options.allowsPersistentDNS = newValue }
    }

    /// The site in whose pages partitioned cookies are used; nil unless set. It has no effect, as cookies are not partitioned: a
    /// session may have a cookie storage of its own.
    public var cookiePartitionIdentifier: String? {
        get { storage.cookiePartitionIdentifier }
        set { unique.cookiePartitionIdentifier = newValue }
    }

    /// Whether the server is known to speak HTTP/3; false unless set. It has no effect, as there is no HTTP/3.
    public var assumesHTTP3Capable: Bool {
        get { storage.options.assumesHTTP3Capable }
        set { unique.options.assumesHTTP3Capable = newValue }
    }

    /// Whether the response's body comes as the server has coded it (`Content-Encoding`); false unless set, so that the program
    /// gets it decoded, as on Apple's systems, unless ``URLSessionConfiguration/keepsContentCodings`` is set.
    ///
    /// For programs that decode it themselves, pass it on, or keep it: set `Accept-Encoding` to the codings that it may have.
    /// The response's `expectedContentLength` is that of the coded body then. Such a response is not taken from the session's
    /// cache, nor stored there. Only `http` and `https` have content codings.
    public var keepsContentCodings: Bool {
        get { storage.options.keepsContentCodings }
        set { unique.options.keepsContentCodings = newValue }
    }

    /// Whether the host's name must be validated by DNSSEC; false unless set. If true, a request whose host is a name fails: see
    /// ``URLSessionConfiguration/requiresDNSSECValidation``.
    public var requiresDNSSECValidation: Bool {
        get { storage.options.requiresDNSSECValidation }
        set { unique.options.requiresDNSSECValidation = newValue }
    }

    /// Whether the program itself or its user makes the request; the developer unless set. It has no effect: it is for the privacy
    /// reports of Apple's systems.
    public var attribution: Attribution {
        get { storage.options.attribution }
        set { unique.options.attribution = newValue }
    }

    /// What protocol handlers keep with the request (`URLProtocol.property(forKey:in:)`). Copies have it, too.
    package var properties: [String: Any] {
        get { storage.properties }
        set { unique.properties = newValue }
    }

    /// Apple corrects the case of these methods only; others are case-sensitive (RFC 9110 §9.1) and left alone.
    private static func normalizedMethod(_ method: String?) -> String {
        guard let method else { return "GET" }
        let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT"]
        return known.first { $0.equalsIgnoringASCIICase(method) } ?? method
    }
}
