import Foundation
import LoadingKitPrimitives

/// The value of one `Set-Cookie` field, taken apart (RFC 6265bis §5.6). Any bytes give a cookie or nil.
struct SetCookieLine: Equatable {
    private static let longestAttribute = 1024

    var name: String
    var value: String
    /// In lower case, without a leading dot. An empty attribute gives an empty string, which means the same as nil.
    var domain: String?
    /// Nil when the attribute is missing or gives no absolute path: the default is used.
    var path: String?
    var expires: Date?
    /// In seconds. It takes precedence over ``expires``.
    var maximumAge: Int?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite = CookieRecord.SameSite.unspecified

    init?(_ text: some StringProtocol) { self.init(utf8: text.utf8) }

    init?(utf8: some Sequence<UInt8>) {
        let bytes = Array(utf8)
        // A line with control characters may be an attempt to inject another field.
        guard !bytes.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        // A cookie without a name may be ignored (§5.7 step 1). Its value could be read as another cookie, and
        // `HTTPCookie` requires a name.
        guard let first = parts.first, let equals = first.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        name = Self.trimmed(first[..<equals])
        value = Self.trimmed(first[(equals + 1)...])
        guard !name.isEmpty else { return nil }
        for part in parts.dropFirst() { readAttribute(part) }
    }

    /// Reads one attribute. Of several with the same name, the last one counts.
    private mutating func readAttribute(_ part: ArraySlice<UInt8>) {
        let equals = part.firstIndex(of: UInt8(ascii: "="))
        let value = equals.map { Self.trimmed(part[($0 + 1)...]) } ?? ""
        guard value.utf8.count <= Self.longestAttribute else { return }
        switch Self.trimmed(part[..<(equals ?? part.endIndex)]).asciiLowercased {
        case "expires": expires = CookieDate.date(value) ?? expires
        case "max-age": maximumAge = Self.seconds(value) ?? maximumAge
        case "domain": domain = (value.first == "." ? String(value.dropFirst()) : value).asciiLowercased
        case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = .init(attribute: value)
        default: break
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: ASCII.trimmingSpaces(bytes), as: UTF8.self)
    }

    /// The number in digits, which may have a minus before them; nil for other text. A number that is too large or too
    /// small for `Int` gives the largest or the smallest `Int`.
    private static func seconds(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(text) ?? (text.utf8.first == UInt8(ascii: "-") ? .min : .max)
    }
}

extension CookieRecord.SameSite {
    /// The policy for the attribute's value. An unknown value means the same as no attribute.
    init(attribute: String) {
        self = Self(rawValue: attribute.asciiLowercased) ?? .unspecified
    }
}
