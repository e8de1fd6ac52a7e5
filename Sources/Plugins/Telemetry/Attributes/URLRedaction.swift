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
            let text = url.absoluteString.utf8
            let sent = text.prefix { $0 != UInt8(ascii: "#") }
            let shown = names.hidingSecrets(
                inURL: String(decoding: sent, as: UTF8.self), users: "\(Self.placeholder):\(Self.placeholder)",
                values: Self.placeholder)
            // Single-page applications have paths and queries in the fragment.
            let fragment = text.dropFirst(sent.count).split(
                separator: UInt8(ascii: "?"), omittingEmptySubsequences: false
            ).map { names.hidingValues(in: String(decoding: $0, as: UTF8.self), by: Self.placeholder) }
            return String((shown + fragment.joined(separator: "?")).prefix(Self.maximumLength))
        }
    }
#endif
