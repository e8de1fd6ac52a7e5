#if CommandLineTool
    import Foundation
    import LoadingKit
    @_spi(LoadingKitPlugins) import LoadingKitCore

    /// The cookies of `-b`, and the file of `-c`.
    struct CookiePlan: Sendable {
        /// The files, with the content of standard input alone.
        private var files: [(path: String, content: Data?)] = []
        private let withoutSession: Bool
        /// Names and values, for the servers of the URLs.
        private var given: [CookiePair] = []
        let jar: String?

        init(_ options: LoginOptions, readFile: (String) throws -> Data) throws {
            jar = options.cookieJar
            withoutSession = options.junkSessionCookies
            for argument in options.cookie {
                if argument.unicodeScalars.contains("=") {
                    given += try argument.unicodeScalars.split(separator: ";").map { String($0) }
                        .filter { !$0.allSatisfy(\.isWhitespace) }.map { try CookiePair($0) }
                } else {
                    let content: Data? = argument == "-" ? (try? readFile(argument)) ?? Data() : nil
                    files.append((path: argument, content: content))
                }
            }
        }

        /// Reads the files: an earlier request of the same run may have written them.
        private func readCookies() -> [HTTPCookie] {
            files.flatMap { path, content -> [HTTPCookie] in
                // A file that cannot be read counts as a file without cookies, as in curl.
                guard let content = content ?? (try? InputFile.read(path)) else { return [] }
                return CookieFile.cookies(in: String(decoding: content, as: UTF8.self), withoutSession: withoutSession)
            }
        }

        func apply(to configuration: URLSessionConfiguration, for urls: [URL]) {
            let given = Dictionary(grouping: urls, by: \.cookieHost).map { host, urls in
                (host, self.given.compactMap { $0.cookie(of: host, isSecure: urls.allSatisfy(\.isSecureForCookies)) })
            }
            let refused = Dictionary(uniqueKeysWithValues: given).mapValues { $0.filter(\.isRefused) }
            if refused.values.contains(where: { !$0.isEmpty }) {
                configuration.httpCookieStorage = GivenCookies(refused)
            }
            for cookie in readCookies() + given.flatMap(\.1) { configuration.httpCookieStorage?.setCookie(cookie) }
        }
    }

    /// A name and a value of `-b`.
    private struct CookiePair {
        private let name: String
        private let value: String

        init(_ text: String) throws {
            let parts = text.cut(at: "=")
            name = (parts?.head ?? text).trimmingCharacters(in: .whitespaces)
            value = (parts?.tail ?? "").trimmingCharacters(in: .whitespaces)
            if cookie(of: "host", isSecure: false) == nil {
                throw ToolFailure(.usage, "-b needs NAME=VALUE, without control characters, not '\(text)'")
            }
        }

        /// The cookie for a host; nil if the name, the value or the host is not valid for a cookie.
        ///
        /// - Parameter isSecure: whether all URLs of the host use TLS.
        func cookie(of host: String, isSecure: Bool) -> HTTPCookie? {
            var properties: [HTTPCookiePropertyKey: Any] = [.domain: host, .path: "/", .name: name, .value: value]
            // A redirect to http must not send it in cleartext. `__Secure-` and `__Host-` require the attribute
            // (RFC 6265bis §4.1.3).
            if isSecure { properties[.secure] = "TRUE" }
            return HTTPCookie(properties: properties)
        }
    }

    /// A cookie storage that also returns the cookies of `-b` that storages refuse, such as a `__Host-` cookie for a
    /// server without TLS.
    private final class GivenCookies: HTTPCookieStorage, @unchecked Sendable {  // only a `let`
        private let given: [String: [HTTPCookie]]

        /// - Parameter given: the refused cookies, by host.
        init(_ given: [String: [HTTPCookie]]) {
            self.given = given
            super.init()
        }

        override func getCookiesFor(
            _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
        ) {
            guard let url = task.currentRequest?.url else { return completionHandler(nil) }
            let stored = cookies(for: url) ?? []
            let names = Set(stored.map(\.name))
            let others = (given[url.cookieHost] ?? []).filter {
                !names.contains($0.name) && (!$0.isSecure || url.isSecureForCookies)
            }
            completionHandler(stored + others)
        }
    }

    extension HTTPCookie {
        fileprivate var isRefused: Bool {
            let storage = HTTPCookieStorage()
            storage.setCookie(self)
            return storage.cookies?.isEmpty != false
        }
    }

    extension URL {
        fileprivate var cookieHost: String { canonicalHost ?? "" }
    }
#endif
