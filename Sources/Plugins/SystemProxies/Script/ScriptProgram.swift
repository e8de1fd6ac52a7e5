import Foundation
import LoadingKit

/// The script that libproxy runs: it calls the original script's `FindProxyForURL`, and returns the result, or the
/// thrown error, as the name of a proxy.
///
/// libproxy itself returns `direct://` for a script that fails, and also where it cannot run scripts: requests would
/// then bypass the proxies unnoticed. It also does not support proxies over TLS.
struct ScriptProgram {
    let text: String

    /// - Parameter url: the server's URL, without a path.
    init(_ script: String, for url: URL) {
        let host = url.host ?? ""
        text = """
            var loadingKitScript = \(Self.literal(script)), loadingKitURL = \(Self.literal(Self.plain(url))), \
            loadingKitHost = \(Self.literal(host)), loadingKitRuns = false;
            function FindProxyForURL() {
                if (loadingKitRuns) throw new Error("it has no function FindProxyForURL");
                loadingKitRuns = true;
                var text, coded = "";
                try {
                    var find = new Function(loadingKitScript + "\\n;return FindProxyForURL;")();
                    text = "=" + String(find(loadingKitURL, loadingKitHost)).substring(0, \(Self.longestAnswer));
                    text = encodeURIComponent(text);
                } catch (error) {
                    text = encodeURIComponent("!" + String(error).substring(0, 500).replace(/[^ -~]/g, "?"));
                }
                for (var i = 0; i < text.length; i++) coded += (256 + text.charCodeAt(i)).toString(16).substring(1);
                return "PROXY \(Self.mark)" + coded + ":1";
            }

            """
    }

    /// The number of characters of a result that are processed.
    private static let longestAnswer = 16_384
    private static let mark = "loadingkit"

    /// The script's result.
    func answer(in output: CommandOutput) throws -> String {
        let lines = output.text.split(whereSeparator: \.isWhitespace)
        let prefix = "http://\(Self.mark)"
        guard let word = lines.first(where: { $0.hasPrefix(prefix) }),
            let text = Self.decode(word.dropFirst(prefix.count).prefix { $0 != ":" })
        else {
            if output.errors.contains("Unable to find a required pacrunner!") { throw SystemProxyError.noScriptRunner }
            throw SystemProxyError.unusableAnswer(output.problem)
        }
        switch text.first {
        case "=": return String(text.dropFirst())
        case "!": throw SystemProxyError.scriptFailed(String(text.dropFirst()))
        case _: throw SystemProxyError.unusableAnswer(text)
        }
    }

    private static func decode(_ hexadecimal: Substring) -> String? {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        guard digits.count.isMultiple(of: 2), digits.count == hexadecimal.count else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
        return String(decoding: bytes, as: UTF8.self).removingPercentEncoding
    }

    /// The URL in a browser's form: with a path, and without the scheme's default port.
    private static func plain(_ url: URL) -> String {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) ?? URLComponents()
        if let port = parts.port, port == ["http": 80, "https": 443, "ftp": 21][parts.scheme ?? ""] {
            parts.port = nil
        }
        parts.path = "/"
        return parts.string ?? url.absoluteString
    }

    /// A JavaScript string literal, in ASCII only.
    private static func literal(_ text: String) -> String {
        var literal: [UInt8] = [UInt8(ascii: "\"")]
        for unit in text.utf16 {
            if unit >= 0x20, unit < 0x7f, unit != 0x22, unit != 0x5c {
                literal.append(UInt8(unit))
            } else {
                let digits = String(unit, radix: 16)
                literal += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
            }
        }
        literal.append(UInt8(ascii: "\""))
        return String(decoding: literal, as: UTF8.self)
    }
}

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
