import LoadingKit

/// The result of `FindProxyForURL`: `PROXY host:port; SOCKS5 host:port; DIRECT`.
///
/// Source: *Proxy Auto-Configuration (PAC) file* of MDN Web Docs.
enum ScriptAnswer {
    /// The routes in the script's order. Unknown entries are skipped; an empty text stands for no proxy.
    ///
    /// - Throws: ``SystemProxyError/unusableChoices(_:)`` where a text has no known entry.
    static func choices(_ text: String) throws -> [ProxyChoice] {
        let entries = text.split(separator: ";").map { $0.split(whereSeparator: \.isWhitespace) }.filter { !$0.isEmpty }
        if entries.isEmpty { return [.direct] }
        let choices = entries.compactMap(choice)
        if choices.isEmpty { throw SystemProxyError.unusableChoices(text) }
        return choices
    }

    private static func choice(_ words: [Substring]) -> ProxyChoice? {
        let method = words[0].uppercased()
        if words.count == 1 { return method == "DIRECT" ? .direct : nil }
        guard words.count == 2, let scheme = schemes[method] else { return nil }
        return ProxyChoice("\(scheme)://\(words[1])")
    }

    private static let schemes = [
        "PROXY": "http", "HTTP": "http", "HTTPS": "https", "SOCKS4": "socks4", "SOCKS": "socks5", "SOCKS5": "socks5",
    ]
}
