import Foundation

extension NSCoder {
    /// Encodes a string that may be absent.
    func encodeString(_ string: String?, forKey key: String) {
        guard let string else { return }
        encode(NSString(string: string), forKey: key)
    }

    /// The string encoded under `key`; nil when there is none, or something else.
    func decodeString(forKey key: String) -> String? {
        guard let string = decodeObject(of: NSString.self, forKey: key) else { return nil }
        return String(string)
    }

    /// Encodes a URL that may be absent.
    func encodeURL(_ url: URL?, forKey key: String) {
        guard let url else { return }
        encode(url as NSURL, forKey: key)
    }

    /// The URL encoded under `key`; nil when there is none, or something else.
    func decodeURL(forKey key: String) -> URL? {
        decodeObject(of: NSURL.self, forKey: key) as URL?
    }
}
