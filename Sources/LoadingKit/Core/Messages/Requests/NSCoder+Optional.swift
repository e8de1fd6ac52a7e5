import Foundation

/// Values that may be absent. To decode a missing value would make the whole archive fail: these functions check first.
extension NSCoder {
    /// The object encoded under `key`; nil when there is none, or one of another class.
    func decodeIfPresent<T: NSObject & NSCoding>(_ type: T.Type, forKey key: String) -> T? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }

    /// The number encoded under `key`, or nil.
    func decodeNumber(forKey key: String) -> NSNumber? { decodeIfPresent(NSNumber.self, forKey: key) }

    /// The enumeration's case whose number is encoded under `key`, or nil.
    func decodeCase<T: RawRepresentable<UInt>>(forKey key: String) -> T? {
        decodeNumber(forKey: key).flatMap { T(rawValue: $0.uintValue) }
    }

    /// Encodes a string that may be absent.
    func encodeString(_ string: String?, forKey key: String) {
        guard let string else { return }
        encode(NSString(string: string), forKey: key)
    }

    /// The string encoded under `key`, or nil.
    func decodeString(forKey key: String) -> String? {
        decodeIfPresent(NSString.self, forKey: key).map { String($0) }
    }

    /// Encodes a URL that may be absent.
    func encodeURL(_ url: URL?, forKey key: String) {
        guard let url else { return }
        encode(url as NSURL, forKey: key)
    }

    /// The URL encoded under `key`, or nil.
    func decodeURL(forKey key: String) -> URL? { decodeIfPresent(NSURL.self, forKey: key) as URL? }

    /// The array encoded under `key`; nil when there is none, or one with objects of another class.
    func decodeArray<Element, T: NSObject & NSCoding>(
        of elements: T.Type, as type: Element.Type, forKey key: String
    ) -> [Element]? {
        guard containsValue(forKey: key) else { return nil }
        return decodeObject(of: [NSArray.self, T.self], forKey: key) as? [Element]
    }
}
