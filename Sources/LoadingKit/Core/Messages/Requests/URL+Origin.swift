import Foundation

/// The origin of a URL: its scheme, host and port (RFC 6454 §4).
extension URL {
    package func isSameOrigin(as other: URL) -> Bool {
        scheme?.lowercased() == other.scheme?.lowercased() && canonicalHost == other.canonicalHost
            && (port ?? standardPort) == (other.port ?? standardPort)
    }

    private var standardPort: Int? { hasScheme("http") ? 80 : hasScheme("https") ? 443 : nil }

    /// An `http` URL with `https`, as HSTS requires it: port 80 becomes 443, other ports are unchanged (RFC 6797 §8.3).
    /// Nil for other schemes.
    package var withHTTPS: URL? {
        guard hasScheme("http"), var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        parts.scheme = "https"
        if parts.port == 80 { parts.port = nil }
        return parts.url
    }
}
