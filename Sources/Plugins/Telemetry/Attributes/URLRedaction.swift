#if Telemetry
    import Foundation
    @_spi(LoadingKitPlugins) import LoadingKitPrimitives

    /// Replaces secrets in a URL.
    struct URLRedaction: Sendable {
        static let placeholder = "REDACTED"
        /// The largest number of characters of a URL that are kept: servers refuse longer URLs.
        static let maximumLength = 8_192

        private let names: SecretNameSet

        init(secretNames: Set<String>) { names = SecretNameSet(secretNames) }

        /// The redacted URL, including its fragment.
        func text(of url: URL) -> String {
            var text = url.absoluteString
            var fragment = ""
            if let hash = text.firstIndex(of: "#") {
                // Single-page applications have paths and queries in the fragment.
                fragment = text[hash...].split(separator: "?", omittingEmptySubsequences: false)
                    .map { pairs($0) }.joined(separator: "?")
                text = String(text[..<hash])
            }
            if let query = text.firstIndex(of: "?") {
                text = text[...query] + pairs(text[text.index(after: query)...])
            }
            return String((withoutUser(text) + fragment).prefix(Self.maximumLength))
        }

        private func withoutUser(_ text: String) -> String {
            guard let start = text.range(of: "://")?.upperBound else { return text }
            let end = text[start...].firstIndex { "/?".contains($0) } ?? text.endIndex
            guard let at = text[start..<end].lastIndex(of: "@") else { return text }
            let user = text[start..<at].contains(":") ? "\(Self.placeholder):\(Self.placeholder)" : Self.placeholder
            return text[..<start] + user + text[at...]
        }

        private func pairs(_ text: Substring) -> String {
            names.hidingValues(in: String(text), by: Self.placeholder)
        }
    }
#endif
