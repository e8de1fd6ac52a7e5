import Foundation
import LoadingKitPrimitives

/// The content of a `URLRequest`: one allocation, shared by its copies until one of them changes.
final class RequestStorage: @unchecked Sendable {  // changed only while a single URLRequest refers to it
    enum Body {
        case none
        case data(Data)
        case stream(InputStream)
        /// The file of an upload task.
        case file(BodyFile)
    }

    var url: URL?
    var mainDocumentURL: URL?
    var method = "GET"
    @exclusivity(unchecked) var fields = HTTPFields()  // calls no other object while it changes
    var body = Body.none
    var timeoutInterval: TimeInterval = URLRequest.defaultTimeoutInterval
    var properties: [String: Any] = [:]
    var cookiePartitionIdentifier: String?
    var options = Options()

    /// The small values, kept together so that they take few bytes.
    struct Options: Hashable {
        var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
        var networkServiceType = URLRequest.NetworkServiceType.default
        var attribution = URLRequest.Attribution.developer
        var httpShouldHandleCookies = true
        var httpShouldUsePipelining = false
        var allowsCellularAccess = true
        var allowsConstrainedNetworkAccess = true
        var allowsExpensiveNetworkAccess = true
        var allowsUltraConstrainedNetworkAccess = true
        var allowsPersistentDNS = false
        var assumesHTTP3Capable = false
        var requiresDNSSECValidation = false
        var keepsContentCodings = false
        var followsRedirects = true
        /// Whether fields were ever set: until then `allHTTPHeaderFields` is nil.
        var hasSetFields = false
        var hasExplicitTimeout = false
    }

    init(url: URL?) { self.url = url }

    init(copying other: RequestStorage) {
        url = other.url
        mainDocumentURL = other.mainDocumentURL
        method = other.method
        fields = other.fields
        body = other.body
        timeoutInterval = other.timeoutInterval
        properties = other.properties
        cookiePartitionIdentifier = other.cookiePartitionIdentifier
        options = other.options
    }
}

extension RequestStorage.Body: Equatable {
    /// Two streams are equal when they are the same object: their bytes could only be compared by reading them.
    static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.none, .none): true
        case (.data(let a), .data(let b)): a == b
        case (.stream(let a), .stream(let b)): a === b
        case (.file(let a), .file(let b)): a == b
        case (.none, _), (.data, _), (.stream, _), (.file, _): false
        }
    }
}

extension RequestStorage: Equatable {
    /// Compares everything that determines the message and its transfer. The properties are not compared, because they
    /// belong to protocol handlers.
    static func == (a: RequestStorage, b: RequestStorage) -> Bool {
        if a === b { return true }
        var options = (a.options, b.options)
        (options.0.hasSetFields, options.0.hasExplicitTimeout) = (false, false)
        (options.1.hasSetFields, options.1.hasExplicitTimeout) = (false, false)
        return a.url == b.url && a.method == b.method && options.0 == options.1
            && a.timeoutInterval == b.timeoutInterval && a.mainDocumentURL == b.mainDocumentURL
            && a.cookiePartitionIdentifier == b.cookiePartitionIdentifier
            && a.body == b.body && a.fields.hasSameContent(as: b.fields)
    }
}
