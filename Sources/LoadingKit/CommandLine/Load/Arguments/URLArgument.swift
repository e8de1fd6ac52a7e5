import Foundation
import LoadingKitPrimitives

/// A URL as the user types it.
struct URLArgument {
    let url: URL

    init(_ text: String) throws {
        guard !text.isEmpty else { throw ToolFailure(.malformedURL, "the URL is empty") }
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f }) else {
            throw ToolFailure(.malformedURL, "the URL has a space or control character in it: \(text)")
        }
        let whole = Self.hasScheme(text) ? text : "http://\(text)"
        guard let url = URL(reference: whole.utf8), url.scheme != nil else {
            throw ToolFailure(.malformedURL, "this is not a URL: \(text)")
        }
        self.url = url
    }

    /// `localhost:8080/x` is a host and a port, though it has the shape of a URL with the scheme `localhost`.
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":") else { return false }
        guard HandlerNames.isScheme(text[..<colon].utf8) else { return false }
        let rest = text[text.index(after: colon)...]
        let port = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return port.isEmpty ? rest.hasPrefix("/") : !port.utf8.allSatisfy(ASCII.isDigit)
    }
}
