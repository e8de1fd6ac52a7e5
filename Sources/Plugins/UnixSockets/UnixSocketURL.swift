import Foundation

/// A URL of a resource on a server with a Unix-domain socket: `http+unix://%2Frun%2Fdocker.sock/v1.44/info`. The host
/// is the socket's path, percent-encoded.
struct UnixSocketURL: Hashable {
    /// The longest path that Linux accepts (unix(7)), in bytes.
    static let longestPath = 107

    /// The schemes, and the scheme that each represents.
    static let schemes = ["http+unix": "http", "https+unix": "https", "ws+unix": "ws", "wss+unix": "wss"]

    let scheme: String
    let socketPath: String
    /// The host that represents the socket in a session. It is used only for this socket: data that sessions store for
    /// a host (cookies, credentials, stored responses) is stored for one socket. `localhost` is for local use
    /// (RFC 6761 §6.3). The host contains a random number of this process: a URL from another source cannot name it.
    let host: String
    /// Scheme and authority, with their original spelling.
    private let beginning: String
    /// Path, query and fragment, with the leading `/`.
    private var rest: Substring

    init(_ url: URL) throws(UnixSocketURLError) {
        let text = url.absoluteString
        guard let colon = text.firstIndex(of: ":"), case let scheme = text[..<colon].lowercased(),
            Self.schemes[scheme] != nil, text[colon...].hasPrefix("://")
        else { throw .otherScheme(text) }
        let authority = text[text.index(colon, offsetBy: 3)...].prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else { throw .userInfo }
        guard let path = authority.removingPercentEncoding, !authority.contains(":") else { throw .malformed(text) }
        guard !path.isEmpty else { throw .noSocket(text) }
        guard !path.utf8.contains(0) else { throw .malformed(text) }
        guard path.utf8.count <= Self.longestPath else { throw .pathTooLong(path) }
        self.scheme = scheme
        socketPath = path
        host = Self.host(ofSocketAt: path)
        beginning = String(text[..<authority.endIndex])
        rest = text[authority.endIndex...]
    }

    /// Whether the URL has one of the schemes. It is called for every request, so no string is made.
    static func hasScheme(_ url: URL) -> Bool {
        var text = url.absoluteString
        return text.withUTF8 { text in
            guard let colon = text.prefix(11).firstIndex(of: UInt8(ascii: ":")), colon >= "ws+unix".utf8.count else {
                return false
            }
            return schemes.keys.contains { name in
                name.utf8.count == colon && zip(name.utf8, text).allSatisfy { $0 == $1 | 0x20 }
            }
        }
    }

    /// Another URL with the same beginning; nil for any other URL.
    func sibling(_ url: URL) -> UnixSocketURL? {
        var (text, beginning) = (url.absoluteString, beginning)
        let isSibling = text.withUTF8 { text in
            beginning.withUTF8 { text.prefix($0.count).elementsEqual($0) }
        }
        guard isSibling else { return nil }
        var sibling = self
        sibling.rest = text[text.utf8.index(text.startIndex, offsetBy: beginning.utf8.count)...]
        return sibling.rest.first.map { "/?#".contains($0) } ?? true ? sibling : nil
    }

    private static let suffix = ".localhost"
    /// Code that knows this prefix can direct an ordinary `http` URL to a socket. It is sent to no server: `Host`
    /// contains the server's name.
    private static let prefix = "unix-\(hexadecimal((0..<16).map { _ in UInt8.random(in: 0...255) }))-"

    private static func host(ofSocketAt path: String) -> String { prefix + hexadecimal(path.utf8) + suffix }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The path of the socket that a host represents; nil for hosts that this process has not made.
    static func socketPath(ofHost host: String) -> String? {
        guard host.hasPrefix(prefix), host.hasSuffix(suffix) else { return nil }
        let digits = Array(host.dropFirst(prefix.count).dropLast(suffix.count).utf8)
        guard !digits.isEmpty, digits.count % 2 == 0, digits.count <= 2 * longestPath else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index...index + 1], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16), byte != 0 else { return nil }
            bytes.append(byte)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The URL that is loaded in its place.
    func loadedURL() throws(UnixSocketURLError) -> URL {
        let text = "\(Self.schemes[scheme] ?? "http")://\(host)\(rest.first == "/" ? "" : "/")\(rest)"
        guard let url = URL(string: text) else { throw .malformed(text) }
        return url
    }

    /// The URL of this socket that another loaded URL represents; nil where that URL leads elsewhere.
    ///
    /// - Parameter authority: the authority, without user and port, by which the URL names the server of this socket.
    func url(for loaded: URL, at authority: String) -> URL? {
        let text = loaded.absoluteString
        guard let loadedScheme = loaded.scheme?.lowercased(), Self.schemes.values.contains(loadedScheme),
            Self.isSecure(loadedScheme) == Self.isSecure(scheme), let start = text.range(of: "://")?.upperBound
        else { return nil }
        let found = text[start...].prefix { !"/?#".contains($0) }
        guard found.lowercased() == authority.lowercased() else { return nil }
        let encoded = socketPath.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return URL(string: "\(scheme)://\(encoded)\(text[found.endIndex...])")
    }

    private static func isSecure(_ scheme: String) -> Bool { scheme.hasPrefix("https") || scheme.hasPrefix("wss") }
}

/// The error for a URL that does not denote a resource on a Unix-domain socket.
public enum UnixSocketURLError: LocalizedError, Sendable, Hashable {
    /// The URL has another scheme.
    case otherScheme(String)
    /// The URL's host is empty: it must be the socket's path, with its slashes as `%2F`.
    case noSocket(String)
    /// The host is not a percent-encoded path, or a port follows it.
    case malformed(String)
    /// The URL has a user. Supply credentials as for other URLs: with a delegate, or a credential storage.
    case userInfo
    /// The path is longer than 107 bytes, the limit of Linux.
    case pathTooLong(String)

    /// The reason and the remedy.
    public var errorDescription: String? {
        switch self {
        case .otherScheme(let url): "\(url) is no URL of a Unix-domain socket: http+unix://%2Frun%2Fserver.sock/path"
        case .noSocket(let url): "\(url) names no socket: its path is the host, with %2F for each slash"
        case .malformed(let url): "\(url) cannot be loaded: its host is no percent-encoded path of a socket"
        case .userInfo: "a URL of a Unix-domain socket cannot name a user: answer the challenge instead"
        case .pathTooLong(let path):
            "the socket's path has \(path.utf8.count) bytes, and the system takes \(UnixSocketURL.longestPath): \(path)"
        }
    }
}
