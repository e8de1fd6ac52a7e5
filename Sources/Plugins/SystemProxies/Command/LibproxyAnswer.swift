import Foundation
import LoadingKit

/// What libproxy's command says of a server by the system's settings: `http://proxy:3128 socks5://other:1080 direct://`.
struct LibproxyAnswer {
    let choices: [ProxyChoice]

    /// - Throws: where a script of the settings could not be loaded or run: libproxy itself says `direct://` then.
    init(_ output: CommandOutput, allowsAutoDiscovery: Bool) throws {
        if !allowsAutoDiscovery, Self.usesAutoDiscovery(output.errors) {
            choices = [.direct]
            return
        }
        let errors = output.errors.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        if errors.contains("Unable to download PAC!") {
            throw SystemProxyError.scriptNotLoaded(
                errors.first { $0.hasPrefix("pac+") }.map { String($0.dropFirst(4)) } ?? "")
        }
        if errors.contains("Unable to find a required pacrunner!") { throw SystemProxyError.noScriptRunner }
        if errors.contains("Pacrunner returned:") { throw SystemProxyError.scriptFailed("it gave nothing") }
        let words = output.text.split(whereSeparator: \.isWhitespace).map(String.init)
        choices = words.compactMap(Self.choice)
        if choices.isEmpty {
            throw SystemProxyError.unusableAnswer(words.isEmpty ? output.problem : words.joined(separator: " "))
        }
    }

    /// Whether the settings are to use the script that the network offers: libproxy says that before it looks for one.
    static func usesAutoDiscovery(_ errors: String) -> Bool { errors.contains("\twpad://") }

    /// Nil for what is not known to LoadingKit.
    private static func choice(_ text: String) -> ProxyChoice? {
        if text.hasPrefix("direct:") { return .direct }
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let kind = ProxyChoice.Kind(libproxyScheme: scheme), let host = parts.host, !host.isEmpty,
            let port = UInt16(exactly: parts.port ?? 0)
        else { return nil }
        return ProxyChoice(kind, host: host, port: port, user: parts.user, password: parts.password)
    }
}

extension ProxyChoice.Kind {
    fileprivate init?(libproxyScheme scheme: String) {
        switch scheme {
        case "http": self = .http
        case "https": self = .https
        case "socks4", "socks4a": self = .socks4
        case "socks", "socks5", "socks5h": self = .socks5
        case _: return nil
        }
    }
}
