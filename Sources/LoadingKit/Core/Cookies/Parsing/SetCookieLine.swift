import Foundation
import LoadingKitPrimitives

/// The parsed value of one `Set-Cookie` field (RFC 6265bis §5.6). Any bytes result in a cookie or nil.
struct SetCookieLine: Equatable {
    /// The limit for an attribute's value in bytes (RFC 6265bis §5.6), which holds for every cookie's path.
    static let longestAttribute = 1024

    var name: String
    var value: String
    /// In lower case, without a leading dot. An empty attribute is an empty string, which means the same as nil.
    var domain: String?
    /// Nil when the attribute is missing or is not an absolute path: the default path applies.
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
        // A cookie without a name may be ignored (§5.7 step 1). Its value could be parsed as another cookie, and
        // `HTTPCookie` requires a name.
        guard let first = parts.first, let equals = first.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        name = Self.trimmed(first[..<equals])
        value = Self.trimmed(first[(equals + 1)...])
        guard !name.isEmpty else { return nil }
        for part in parts.dropFirst() { readAttribute(part) }
    }

    /// Parses one attribute. Of several with the same name, the last one counts.
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

    /// The number in digits, which may follow a minus sign; nil for other text. A number beyond the range of `Int`
    /// becomes the largest or the smallest `Int`.
    private static func seconds(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(text) ?? (text.utf8.first == UInt8(ascii: "-") ? .min : .max)
    }
}

extension CookieRecord.SameSite {
    init(attribute: String) {
        self = Self(rawValue: attribute.asciiLowercased) ?? .unspecified
    }
}

extension CookieRecord {
    /// The cookie of a `Set-Cookie` line in a response for `url`. This initializer does not check whether the server
    /// may set it: see ``CookieAcceptance``.
    ///
    /// Nil when the URL has no host, when there is no path, when the domain is not valid, or when the cookie does not
    /// meet the requirements of its name's prefix.
    ///
    /// - Parameter defaultPath: ``CookiePath/defaultPath(for:)`` for the URL, computed once for all cookies of the
    ///   response.
    init?(_ line: SetCookieLine, from url: URL, defaultPath: String?, now: Date) {
        guard let host = CookieHost.host(of: url), let path = line.path ?? defaultPath else { return nil }
        let domain = line.domain.flatMap { $0.isEmpty ? nil : $0 }
        // Domains are ASCII in the field (§5.7 step 6).
        guard domain.map(CookieHost.isPlain) != false else { return nil }
        // `__Host-` requires the attribute, even where the default path is `/`.
        if line.name.hasASCIIPrefix("__host-"), line.path == nil { return nil }
        self.init(
            identity: Identity(
                name: line.name, domain: domain ?? host, isHostOnly: domain.map(CookieHost.isAddress) ?? true,
                path: path),
            value: line.value, creation: now)
        expires = line.maximumAge.map { Self.end(after: $0, from: now) } ?? line.expires
        isSecure = line.isSecure
        isHTTPOnly = line.isHTTPOnly
        sameSite = line.sameSite
        guard isValidForNamePrefix else { return nil }
    }

    /// The time at which a cookie with this `Max-Age` expires. For zero and less it is the earliest time, so that the
    /// cookie expires at once (RFC 6265bis §5.6.2).
    static func end(after seconds: Int, from now: Date) -> Date {
        seconds > 0 ? now.addingTimeInterval(Double(seconds)) : .distantPast
    }
}

/// Several `Set-Cookie` fields that were joined with commas, as in a dictionary of fields.
///
/// A comma may also be part of a date or of a value. The rule is therefore a heuristic: a new cookie begins where a
/// token and an equals sign follow the comma. Fields that a connection has received are not joined, and need no
/// heuristic.
enum SetCookieList {
    static func lines(_ joined: String) -> [Substring.UTF8View] {
        let bytes = joined.utf8
        var lines: [Substring.UTF8View] = []
        var start = bytes.startIndex
        var index = start
        while let comma = bytes[index...].firstIndex(of: UInt8(ascii: ",")) {
            index = bytes.index(after: comma)
            guard beginsCookie(bytes[index...]) else { continue }
            lines.append(bytes[start..<comma])
            start = index
        }
        lines.append(bytes[start...])
        return lines.map { line in
            let end = line.lastIndex { !isWhiteSpace($0) }.map { line.index(after: $0) } ?? line.startIndex
            return line[..<end].drop(while: isWhiteSpace)
        }
    }

    /// Line ends are white space here, because programs that join fields by hand may use them.
    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    private static func beginsCookie(_ bytes: Substring.UTF8View) -> Bool {
        let name = bytes.drop(while: isWhiteSpace)
        let rest = name.drop { Unicode.Scalar($0).isHTTPToken }
        return rest.startIndex != name.startIndex && rest.first == UInt8(ascii: "=")
    }
}
