import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Replaces secrets in a request.
struct SecretHiding {
    private let isOff: Bool
    private let placeholder: String
    private let fields: Set<String>
    private let names: SecretNameSet

    init(_ options: CurlOptions) {
        isOff = options.showsSecrets
        placeholder = options.placeholder
        fields = Set(options.secretFields.map { $0.lowercased() })
        names = SecretNameSet(options.secretNames)
    }

    /// A field's value. In the URL of a `Referer`, the same parts are hidden as in the request's URL.
    func field(_ name: String, _ value: String) -> String {
        if isOff { return value }
        if fields.contains(name.lowercased()) { return placeholder }
        return name.lowercased() == "referer" ? url(text: value) : value
    }

    /// The URL, without its fragment, which is never sent.
    func url(_ url: URL) -> String {
        let text = url.absoluteString.prefix { $0 != "#" }
        return isOff ? String(text) : self.url(text: String(text))
    }

    private func url(text: String) -> String {
        var text = text
        if let query = text.utf8.firstIndex(of: UInt8(ascii: "?")).map(text.utf8.index(after:)) {
            text = text[..<query] + pairs(String(text[query...]))
        }
        guard let start = text.range(of: "://")?.upperBound else { return text }
        let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        guard let at = text[start..<end].lastIndex(of: "@") else { return text }
        text.replaceSubrange(start..<at, with: "\(placeholder):\(placeholder)")
        return text
    }

    /// A query, or a form's body: unchanged, except for the values of secret names.
    func pairs(_ text: String) -> String {
        isOff ? text : names.hidingValues(in: text, by: placeholder)
    }
}
