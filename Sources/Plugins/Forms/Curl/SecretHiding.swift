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
        let text = String(decoding: url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
        return isOff ? text : self.url(text: text)
    }

    private func url(text: String) -> String {
        names.hidingSecrets(inURL: text, users: "\(placeholder):\(placeholder)", values: placeholder)
    }

    /// A query, or a form's body: unchanged, except for the values of secret names.
    func pairs(_ text: String) -> String {
        isOff ? text : names.hidingValues(in: text, by: placeholder)
    }
}
