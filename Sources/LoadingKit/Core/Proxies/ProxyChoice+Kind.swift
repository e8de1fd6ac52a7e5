/// The properties of each kind of proxy. Other code asks for them and compares no kinds, so that the compiler lists the
/// places that a new kind needs.
extension ProxyChoice.Kind {
    /// The kind whose proxies a scheme names; nil for an unknown scheme.
    init?(scheme: String) {
        guard let kind = Self.allCases.first(where: { $0.scheme == scheme || $0.otherSchemes.contains(scheme) }) else {
            return nil
        }
        self = kind
    }

    /// The scheme of the kind's names. Messages have this one.
    package var scheme: String {
        switch self {
        case .http: "http"
        case .https: "https"
        case .socks4: "socks4a"
        case .socks5: "socks5h"
        }
    }

    private var otherSchemes: [String] {
        switch self {
        case .http, .https: []
        case .socks4: ["socks4"]
        case .socks5: ["socks", "socks5"]
        }
    }

    package var usualPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        case .socks4, .socks5: 1080
        }
    }

    /// Whether connections to the proxy are secured by TLS.
    package var isSecure: Bool {
        switch self {
        case .https: true
        case .http, .socks4, .socks5: false
        }
    }

    /// Whether `http` requests are sent to the proxy in absolute form, and its challenges are HTTP's.
    package var speaksHTTP: Bool {
        switch self {
        case .http, .https: true
        case .socks4, .socks5: false
        }
    }

    /// Whether a tunnel's handshake can ask for a credential, or for another one.
    package var challengesTunnels: Bool {
        switch self {
        case .http, .https, .socks5: true
        case .socks4: false
        }
    }
}
