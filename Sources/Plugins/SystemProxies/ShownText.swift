import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

extension SystemProxyError {
    /// The error without the users and passwords in its texts, as it leaves the module.
    var withoutUsers: SystemProxyError {
        switch self {
        case .unusableAnswer(let text): .unusableAnswer(ShownText.withoutUsers(text))
        case .scriptNotLoaded(let text): .scriptNotLoaded(ShownText.withoutUsers(text))
        case .scriptFailed(let text): .scriptFailed(ShownText.withoutUsers(text))
        case .unusableChoices(let text): .unusableChoices(ShownText.withoutUsers(text))
        case .commandNotFound, .notStarted, .timedOut, .noScriptRunner, .scriptStatus, .scriptTooLong: self
        }
    }
}

extension URLError {
    /// The error without the user and password in its URL, as it leaves the module.
    var withoutUsers: URLError {
        var userInfo = self.userInfo
        let url = (userInfo[NSURLErrorFailingURLErrorKey] as? URL)?.withoutUser
        userInfo[NSURLErrorFailingURLErrorKey] = url
        // The key of `failureURLString`.
        userInfo["NSErrorFailingURLStringKey"] = url?.absoluteString
        return URLError(code, userInfo: userInfo)
    }
}

extension URL {
    /// The URL without a user and a password; nil where its parts cannot be told.
    var withoutUser: URL? {
        var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        parts?.user = nil
        parts?.password = nil
        return parts?.url
    }
}

/// Texts of settings, scripts and libproxy in errors.
enum ShownText {
    private static let hidden = "(redacted)"

    /// Replaces what stands before an `@` in each address, with and without a scheme: it may be a user and a password.
    ///
    /// An address in an error is often invalid because its password has a slash or another separator in it. All up to
    /// the word's last `@` is therefore replaced, and behind `//` also where a separator of words is before it.
    /// Texts are divided by bytes: a separator may form one character with a combining mark behind it.
    static func withoutUsers(_ text: String) -> String {
        let (separators, slash) = (Array(" \t\r\n;,\"'".utf8), UInt8(ascii: "/"))
        var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], Array(URLUsers.hidden(in: text, by: hidden).utf8)[...])
        while !rest.isEmpty {
            let word = rest.prefix { !separators.contains($0) }
            if let at = word.lastIndex(of: UInt8(ascii: "@")) {
                let mark = (word.startIndex..<at).first { word[$0] == slash && word[$0 + 1] == slash }
                result += word[..<(mark.map { $0 + 2 } ?? word.startIndex)]
                result += Array(hidden.utf8)
                result += word[at...]
            } else {
                result += word
            }
            // The separator behind the word.
            result += rest[word.endIndex...].prefix(1)
            rest = rest[word.endIndex...].dropFirst()
        }
        return String(decoding: result, as: UTF8.self)
    }
}
