#if Telemetry
    import Foundation

    /// Replaces secrets in a URL.
    struct URLRedaction: Sendable {
        static let placeholder = "REDACTED"
        /// The largest number of characters of a URL that are kept: servers refuse longer URLs.
        static let maximumLength = 8_192

        private let names: Set<String>

        init(secretNames: Set<String>) { names = Set(secretNames.map(Self.key)) }

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
            text.split(separator: "&", omittingEmptySubsequences: false).map { pair(String($0)) }.joined(separator: "&")
        }

        /// Some servers separate pairs with semicolons. The text after a secret's name is redacted as a whole.
        private func pair(_ text: String) -> String {
            var start = text.startIndex
            while let equals = text[start...].firstIndex(of: "=") {
                let name = text[start..<equals].split(separator: ";").last ?? ""
                if isSecret(String(name)) { return text[...equals] + Self.placeholder }
                guard let next = text[equals...].firstIndex(of: ";") else { return text }
                start = text.index(after: next)
            }
            return text
        }

        /// For names such as `user[password]` or `#token`, each part is compared.
        private func isSecret(_ name: String) -> Bool {
            let name = name.removingPercentEncoding ?? name
            let parts = name.split { "[].#/ ".contains($0) }
            return names.contains(Self.key(name)) || parts.contains { names.contains(Self.key(String($0))) }
        }

        private static func key(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }
    }
#endif
