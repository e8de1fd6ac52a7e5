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
            // By bytes: a separator may form one character with those beside it.
            let text = url.absoluteString.utf8
            let whole = text.prefix { $0 != UInt8(ascii: "#") }
            let place = whole.prefix { $0 != UInt8(ascii: "?") }
            var shown = URLUsers.hidden(
                in: String(decoding: place, as: UTF8.self), by: "\(Self.placeholder):\(Self.placeholder)")
            if place.count < whole.count { shown += "?" + pairs(whole.dropFirst(place.count + 1)) }
            // Single-page applications have paths and queries in the fragment.
            let fragment = text.dropFirst(whole.count).split(
                separator: UInt8(ascii: "?"), omittingEmptySubsequences: false)
            shown += fragment.map { pairs($0) }.joined(separator: "?")
            return String(shown.prefix(Self.maximumLength))
        }

        private func pairs(_ text: Substring.UTF8View) -> String {
            names.hidingValues(in: String(decoding: text, as: UTF8.self), by: Self.placeholder)
        }
    }
#endif
