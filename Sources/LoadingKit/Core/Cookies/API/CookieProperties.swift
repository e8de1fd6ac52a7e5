import Foundation

/// The dictionary that a program makes a cookie from, whose values may be of several types.
struct CookieProperties {
    private let values: [HTTPCookiePropertyKey: Any]

    init(_ values: [HTTPCookiePropertyKey: Any]) { self.values = values }

    func string(_ key: HTTPCookiePropertyKey) -> String? {
        switch values[key] {
        case let text as String: text
        case let text as Substring: String(text)
        case let number as NSNumber: number.stringValue
        case let policy as HTTPCookieStringPolicy: policy.rawValue
        default: nil
        }
    }

    /// Whether the cookie is one of RFC 2965.
    var isVersion1: Bool { string(.version) == "1" }

    func flag(_ key: HTTPCookiePropertyKey) -> Bool? {
        if let flag = values[key] as? Bool { return flag }
        return string(key).map { !["", "0", "false", "no"].contains($0.asciiLowercased) }
    }

    func url(_ key: HTTPCookiePropertyKey) -> URL? {
        values[key] as? URL ?? string(key).flatMap { URL(string: $0) }
    }

    func date(_ key: HTTPCookiePropertyKey) -> Date? {
        values[key] as? Date ?? string(key).flatMap { CookieDate.date($0) }
    }

    /// A moment given in seconds since 2001.
    func moment(_ key: HTTPCookiePropertyKey) -> Date? {
        guard let seconds = string(key).flatMap({ Double($0) }), seconds.isFinite else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    func ports(_ key: HTTPCookiePropertyKey) -> [Int]? {
        if let numbers = values[key] as? [NSNumber] { return numbers.map(\.intValue) }
        return string(key).map { text in text.split(separator: ",").compactMap { Int($0.trimmingHTTPWhitespace) } }
    }
}
