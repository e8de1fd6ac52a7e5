import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

@testable import LoadingKitCore
@testable import LoadingKitForms

/// Readers whose results `differential.py` compares with those of Python's. Each gets a line of text, and gives a text; nil
/// where it refuses the line.
enum Answers {
    private static let all: [String: @Sendable (String) -> String?] = [
        "dates": { HTTPDate.parse($0, now: 1_700_000_000).map(String.init) },
        "cookie-dates": { CookieDate.date($0).map { String(Int($0.timeIntervalSince1970)) } },
        "cookies": { line in
            SetCookieLine(line).map { cookie in
                [
                    cookie.name, cookie.value, cookie.domain ?? "", cookie.path ?? "", "\(cookie.isSecure)",
                    "\(cookie.isHTTPOnly)",
                ].joined(separator: "\n")
            }
        },
        "references": { URL(reference: $0.utf8, relativeTo: URL(string: "http://a/b/c/d;p?q"))?.absoluteString },
        "forms": { line in
            FormURLEncoded(parsing: line).pairs.map { "\($0.name)\n\($0.value)" }.joined(separator: "\n\n")
        },
    ]

    /// Answers the lines of standard input, which are in base 64, until it ends.
    static func answerLines(for name: String) {
        guard let reader = all[name] else { return print(all.keys.sorted().joined(separator: "\n")) }
        while let line = readLine() {
            let text = String(decoding: Data(base64Encoded: line) ?? Data(), as: UTF8.self)
            print(reader(text).map { "=" + Data($0.utf8).base64EncodedString() } ?? "-")
        }
    }
}
