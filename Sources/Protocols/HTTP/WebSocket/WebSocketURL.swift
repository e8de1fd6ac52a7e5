import Foundation
import LoadingKitCore

/// `ws` and `wss` name what `http` and `https` do, for another protocol (RFC 6455 §3).
enum WebSocketURL {
    static func isWebSocket(_ url: URL) -> Bool { url.hasScheme("wss") || url.hasScheme("ws") }

    /// The URL as a request over HTTP has it.
    static func http(_ url: URL) -> URL {
        guard isWebSocket(url) else { return url }
        return with(scheme: url.hasScheme("wss") ? "https" : "http", url)
    }

    /// The URL as the program has it, which asked for one of these.
    static func webSocket(_ url: URL) -> URL {
        if url.hasScheme("https") { return with(scheme: "wss", url) }
        return url.hasScheme("http") ? with(scheme: "ws", url) : url
    }

    private static func with(scheme: String, _ url: URL) -> URL {
        let text = url.absoluteString
        return URL(string: scheme + text[(text.firstIndex(of: ":") ?? text.startIndex)...]) ?? url
    }
}
