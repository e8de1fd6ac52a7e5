import Foundation

/// User info as bytes, where it consists of strings, numbers, dates, data, arrays, and dictionaries by strings.
enum PropertyList {
    static func bytes(_ dictionary: [AnyHashable: Any]) -> Data? {
        guard let plain = plain(dictionary) else { return nil }
        return try? PropertyListSerialization.data(fromPropertyList: plain, format: .binary, options: 0)
    }

    static func dictionary(_ bytes: Data) -> [AnyHashable: Any]? {
        try? PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any]
    }

    /// Foundation ends the process over some values that it cannot write, so they do not get there.
    private static func plain(_ value: Any) -> Any? {
        switch value {
        case let string as String: return string
        case let data as Data: return data
        case let date as Date: return date
        case let number as NSNumber: return number
        case let array as [Any]:
            let plain = array.compactMap { Self.plain($0) }
            return plain.count == array.count ? plain : nil
        case let dictionary as [AnyHashable: Any]:
            var plain: [String: Any] = [:]
            for (key, value) in dictionary {
                guard let key = key.base as? String, let value = Self.plain(value) else { return nil }
                plain[key] = value
            }
            return plain
        default: return nil
        }
    }
}
