import Foundation
import LoadingKitPrimitives

extension URLRequest {
    private enum CodingKey {
        static let url = "url"
        static let mainDocumentURL = "mainDocumentURL"
        static let method = "httpMethod"
        static let fields = "fields"
        static let body = "httpBody"
        static let timeoutInterval = "timeoutInterval"
        static let hasExplicitTimeout = "hasExplicitTimeout"
        static let cachePolicy = "cachePolicy"
        static let networkServiceType = "networkServiceType"
        static let attribution = "attribution"
        static let flags = "flags"
        static let deniesUltraConstrained = "deniesUltraConstrainedNetworkAccess"
        static let allowsPersistentDNS = "allowsPersistentDNS"
        static let refusesRedirects = "refusesRedirects"
        static let cookiePartition = "cookiePartitionIdentifier"
    }

    /// The Boolean properties. Each property's position is its bit in an archive: new ones are added at the end.
    private static let flags: [any WritableKeyPath<URLRequest, Bool> & Sendable] = [
        \.httpShouldHandleCookies, \.httpShouldUsePipelining, \.allowsCellularAccess,
        \.allowsConstrainedNetworkAccess, \.allowsExpensiveNetworkAccess, \.assumesHTTP3Capable,
        \.requiresDNSSECValidation, \.keepsContentCodings,
    ]

    func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encodeURL(url, forKey: CodingKey.url)
        coder.encodeURL(mainDocumentURL, forKey: CodingKey.mainDocumentURL)
        coder.encodeString(httpMethod, forKey: CodingKey.method)
        if storage.options.hasSetFields { fields.encode(with: coder, key: CodingKey.fields) }
        if let httpBody { coder.encode(NSData(data: httpBody), forKey: CodingKey.body) }
        coder.encode(NSNumber(value: timeoutInterval), forKey: CodingKey.timeoutInterval)
        coder.encode(NSNumber(value: hasExplicitTimeout), forKey: CodingKey.hasExplicitTimeout)
        coder.encode(NSNumber(value: cachePolicy.rawValue), forKey: CodingKey.cachePolicy)
        coder.encode(NSNumber(value: networkServiceType.rawValue), forKey: CodingKey.networkServiceType)
        coder.encode(NSNumber(value: attribution.rawValue), forKey: CodingKey.attribution)
        var bits: UInt32 = 0
        for (index, flag) in Self.flags.enumerated() where self[keyPath: flag] { bits |= 1 << index }
        coder.encode(NSNumber(value: bits), forKey: CodingKey.flags)
        // Values that earlier archives lack.
        coder.encode(
            NSNumber(value: !allowsUltraConstrainedNetworkAccess), forKey: CodingKey.deniesUltraConstrained)
        coder.encode(NSNumber(value: allowsPersistentDNS), forKey: CodingKey.allowsPersistentDNS)
        coder.encode(NSNumber(value: !followsRedirects), forKey: CodingKey.refusesRedirects)
        coder.encodeString(cookiePartitionIdentifier, forKey: CodingKey.cookiePartition)
    }

    /// Nil when the archive is not keyed. Values that are missing or not valid get their defaults.
    init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        self.init(storage: RequestStorage(url: coder.decodeURL(forKey: CodingKey.url)))
        mainDocumentURL = coder.decodeURL(forKey: CodingKey.mainDocumentURL)
        httpMethod = coder.decodeString(forKey: CodingKey.method)
        httpBody = coder.decodeIfPresent(NSData.self, forKey: CodingKey.body).map { Data(referencing: $0) }
        if let interval = coder.decodeNumber(forKey: CodingKey.timeoutInterval) {
            storage.timeoutInterval = interval.doubleValue
        }
        storage.options.hasExplicitTimeout =
            coder.decodeNumber(forKey: CodingKey.hasExplicitTimeout)?.boolValue ?? false
        cachePolicy = coder.decodeCase(forKey: CodingKey.cachePolicy) ?? cachePolicy
        networkServiceType = coder.decodeCase(forKey: CodingKey.networkServiceType) ?? networkServiceType
        attribution = coder.decodeCase(forKey: CodingKey.attribution) ?? attribution
        if let bits = coder.decodeNumber(forKey: CodingKey.flags)?.uint32Value {
            for (index, flag) in Self.flags.enumerated() { self[keyPath: flag] = bits & (1 << index) != 0 }
        }
        allowsUltraConstrainedNetworkAccess =
            coder.decodeNumber(forKey: CodingKey.deniesUltraConstrained)?.boolValue != true
        allowsPersistentDNS = coder.decodeNumber(forKey: CodingKey.allowsPersistentDNS)?.boolValue == true
        followsRedirects = coder.decodeNumber(forKey: CodingKey.refusesRedirects)?.boolValue != true
        cookiePartitionIdentifier = coder.decodeString(forKey: CodingKey.cookiePartition)
        if let decoded = HTTPFields(coder: coder, key: CodingKey.fields) {
            fields = decoded
            storage.options.hasSetFields = true
        }
    }
}

/// Values that may be missing. Decoding a missing value would make the whole archive fail: these functions check first.
extension NSCoder {
    /// The object encoded under `key`; nil when there is none, or an object of another class.
    func decodeIfPresent<T: NSObject & NSCoding>(_ type: T.Type, forKey key: String) -> T? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }

    func decodeNumber(forKey key: String) -> NSNumber? { decodeIfPresent(NSNumber.self, forKey: key) }

    /// The enumeration case with the number encoded under `key`, or nil.
    func decodeCase<T: RawRepresentable<UInt>>(forKey key: String) -> T? {
        decodeNumber(forKey: key).flatMap { T(rawValue: $0.uintValue) }
    }

    func encodeString(_ string: String?, forKey key: String) {
        guard let string else { return }
        encode(NSString(string: string), forKey: key)
    }

    func decodeString(forKey key: String) -> String? {
        decodeIfPresent(NSString.self, forKey: key).map { String($0) }
    }

    func encodeURL(_ url: URL?, forKey key: String) {
        guard let url else { return }
        encode(url as NSURL, forKey: key)
    }

    func decodeURL(forKey key: String) -> URL? { decodeIfPresent(NSURL.self, forKey: key) as URL? }

    /// The array encoded under `key`; nil when there is none, or an array with objects of another class.
    func decodeArray<Element, T: NSObject & NSCoding>(
        of elements: T.Type, as type: Element.Type, forKey key: String
    ) -> [Element]? {
        guard containsValue(forKey: key) else { return nil }
        return decodeObject(of: [NSArray.self, T.self], forKey: key) as? [Element]
    }
}
