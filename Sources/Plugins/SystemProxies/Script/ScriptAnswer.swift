import LoadingKit

/// What `FindProxyForURL` gives: `PROXY host:port; SOCKS5 host:port; DIRECT`.
///
/// Source: *Proxy Auto-Configuration (PAC) file* of MDN Web Docs.
enum ScriptAnswer {
    /// The ways in the script's order. What is not understood is passed over; an empty text stands for no proxy.
    ///
    /// - Throws: ``SystemProxyError/unusableChoices(_:)`` where nothing of a text is understood.
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
        guard words.count == 2, let kind = ProxyChoice.Kind(scriptMethod: method),
            let (host, port) = hostAndPort(words[1])
        else { return nil }
        return ProxyChoice(kind, host: host, port: port)
    }

    /// The port is 0 where none is named.
    private static func hostAndPort(_ text: Substring) -> (String, UInt16)? {
        let host: Substring
        if text.first == "[" {
            guard let bracket = text.firstIndex(of: "]") else { return nil }
            host = text[...bracket]
        } else {
            host = text.prefix { $0 != ":" }
        }
        guard !host.isEmpty, host.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f }) else { return nil }
        var rest = text[host.endIndex...]
        guard let colon = rest.popFirst() else { return (String(host), 0) }
        guard colon == ":", rest.allSatisfy(\.isASCII), let port = UInt16(rest), port > 0 else { return nil }
        return (String(host), port)
    }
}

extension ProxyChoice.Kind {
    fileprivate init?(scriptMethod method: String) {
        switch method {
        case "PROXY", "HTTP": self = .http
        case "HTTPS": self = .https
        case "SOCKS4": self = .socks4
        case "SOCKS", "SOCKS5": self = .socks5
        case _: return nil
        }
    }
}
