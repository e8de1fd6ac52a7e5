import Foundation
import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// The origin of an HTTP request: the part of its URL that determines the connection (RFC 9110 §4.3).
struct Origin: Hashable {
    let isSecure: Bool
    /// A lowercase name, or an address in the system's notation, without brackets. All notations of a host are one
    /// origin.
    let host: String
    let port: UInt16

    var defaultPort: UInt16 { isSecure ? 443 : 80 }
    var endpoint: Endpoint { .tcp(host: host, port: port) }

    /// As in `Host` and URLs: an IPv6 address in brackets, without its zone (RFC 6874 §4).
    private var hostInAuthority: String {
        guard host.utf8.contains(UInt8(ascii: ":")) else { return host }
        return "[\(host.prefix { $0 != "%" })]"
    }

    var proxyTarget: ProxyTarget { ProxyTarget(isSecure ? .https : .http, host: host, port: port) }

    /// The host and port for `CONNECT` (RFC 9110 §9.3.6).
    var hostAndPort: String { "\(hostInAuthority):\(port)" }

    /// The `Host` field's value: with the port only if it is not the scheme's default port.
    var authority: String { port == defaultPort ? hostInAuthority : "\(hostInAuthority):\(port)" }
}

/// An http or https URL, parsed in one pass over its bytes.
struct RequestTarget {
    /// The result of parsing a URL up to the end of its authority. Targets with the same beginning share it.
    private final class Site {
        let beginning: [UInt8]
        let origin: Origin
        let hasUserInfo: Bool

        init(_ beginning: Substring.UTF8View, _ origin: Origin, hasUserInfo: Bool) {
            self.beginning = Array(beginning)
            self.origin = origin
            self.hasUserInfo = hasUserInfo
        }
    }

    private let site: Site
    /// Path and query, in the form for the request line.
    let pathAndQuery: String

    var origin: Origin { site.origin }

    func beginsLike(_ other: RequestTarget) -> Bool { site === other.site }

    /// Whether the URL may contain a user.
    var hasUserInfo: Bool { site.hasUserInfo }

    /// - Parameter last: an earlier target, whose origin is used if the URL has the same beginning.
    init(_ url: URL, like last: RequestTarget? = nil) throws(LoadFailure) {
        var text = url.absoluteString
        if let site = last?.site, let path = text.withUTF8({ Self.pathAndQuery($0, behind: site.beginning) }) {
            self.site = site
            pathAndQuery = path
            return
        }
        var bytes = text.utf8[...]
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { throw .badURL("it has no scheme") }
        let isSecure = colon == bytes.index(bytes.startIndex, offsetBy: 5)
        bytes = bytes[bytes.index(after: colon)...]
        guard bytes.starts(with: "//".utf8) else { throw .badURL("it has no host") }
        bytes = bytes.dropFirst(2)
        let end = bytes.firstIndex(where: Self.endsAuthority) ?? bytes.endIndex
        site = Site(
            text.utf8[..<end], try Self.origin(bytes[..<end], isSecure),
            hasUserInfo: bytes[..<end].contains(UInt8(ascii: "@")))
        pathAndQuery = Self.pathAndQuery(bytes[end...])
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Nil if the text begins with another authority.
    private static func pathAndQuery(_ text: UnsafeBufferPointer<UInt8>, behind beginning: [UInt8]) -> String? {
        isBeginning(beginning, of: text) ? pathAndQuery(text[beginning.count...]) : nil
    }

    private static func isBeginning(_ beginning: [UInt8], of text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.starts(with: beginning) && (text.count == beginning.count || endsAuthority(text[beginning.count]))
    }

    /// Whether the URL has the same beginning as the target's, and therefore the same origin.
    func beginsLike(_ url: URL) -> Bool {
        var text = url.absoluteString
        return text.withUTF8 { Self.isBeginning(site.beginning, of: $0) }
    }

    private static func pathAndQuery(_ rest: some Collection<UInt8>) -> String {
        let target = rest.prefix { $0 != UInt8(ascii: "#") }
        let path = String(decoding: target, as: UTF8.self)
        return target.first == UInt8(ascii: "/") ? path : "/" + path
    }

    private static func origin(_ authority: Substring.UTF8View, _ isSecure: Bool) throws(LoadFailure) -> Origin {
        var rest = authority
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: at)...] }
        let host: Substring.UTF8View
        if rest.first == UInt8(ascii: "[") {
            guard let bracket = rest.firstIndex(of: UInt8(ascii: "]")) else { throw .badURL("a bracket is not closed") }
            host = rest[rest.index(after: rest.startIndex)..<bracket]
            rest = rest[rest.index(after: bracket)...]
        } else {
            let colon = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            host = rest[..<colon]
            rest = rest[colon...]
        }
        guard !host.isEmpty else { throw .badURL("it has no host") }
        return Origin(isSecure: isSecure, host: try decodeHost(host), port: try port(rest, isSecure))
    }

    private static func port(_ rest: Substring.UTF8View, _ isSecure: Bool) throws(LoadFailure) -> UInt16 {
        let standard: UInt16 = isSecure ? 443 : 80
        guard let first = rest.first else { return standard }
        guard first == UInt8(ascii: ":") else { throw .badURL("there is text between its host and its port") }
        let digits = Substring(rest.dropFirst())
        if digits.isEmpty { return standard }
        guard let port = UInt16(digits), port > 0, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            throw .badURL("its port \(digits.prefix(20)) is not a number from 1 to 65535")
        }
        return port
    }

    /// Lowercase, percent-decoded, in ASCII. The zone of an IPv6 address is written with `%25` in a URL (RFC 6874).
    private static func decodeHost(_ host: Substring.UTF8View) throws(LoadFailure) -> String {
        let isPlain = host.allSatisfy { $0 != UInt8(ascii: "%") && !($0 >= 0x41 && $0 <= 0x5a) }
        let text = String(Substring(host))
        if isPlain { return IPAddress.canonical(text) }
        let isAddress = host.contains(UInt8(ascii: ":"))
        let decoded = isAddress ? text.replacing("%25", with: "%") : text.removingPercentEncoding
        guard let decoded, decoded.utf8.allSatisfy({ isAddress || isHostByte($0) }),
            case let name = URLHost.canonical(decoded), name.utf8.allSatisfy({ isAddress || isHostByte($0) })
        else { throw .badURL("its host has characters that no host may have") }
        return IPAddress.canonical(name)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7f && !#"/?#@:[]\<>^`{|}""#.utf8.contains(byte)
    }
}

/// Translates `ws` and `wss` URLs to `http` and `https` ones, and back (RFC 6455 §3).
enum WebSocketURL {
    static func isWebSocket(_ url: URL) -> Bool { url.hasScheme("wss") || url.hasScheme("ws") }

    static func http(_ url: URL) -> URL {
        guard isWebSocket(url) else { return url }
        return with(scheme: url.hasScheme("wss") ? "https" : "http", url)
    }

    static func webSocket(_ url: URL) -> URL {
        if url.hasScheme("https") { return with(scheme: "wss", url) }
        return url.hasScheme("http") ? with(scheme: "ws", url) : url
    }

    private static func with(scheme: String, _ url: URL) -> URL {
        let text = url.absoluteString
        return URL(string: scheme + text[(text.firstIndex(of: ":") ?? text.startIndex)...]) ?? url
    }
}

extension URLSessionTask {
    /// Whether an http or https URL has the origin for which the task was made.
    func isFirst(_ url: URL) -> Bool {
        guard let first = firstURL else { return false }
        if first == url { return true }
        let http = WebSocketURL.http(first)
        guard http.hasScheme("http") || http.hasScheme("https"), let first = try? RequestTarget(http),
            let target = try? RequestTarget(url)
        else { return false }
        return first.origin == target.origin
    }
}

extension LoadFailure {
    fileprivate static func badURL(_ reason: String) -> LoadFailure {
        LoadFailure(.badURL, "the URL cannot be loaded: \(reason)")
    }
}
