import Foundation

extension RequestMatcher {
    /// A URL that matches a pattern: `*` matches any characters but `/`, `**` any characters, and `{name}` one path
    /// segment or a part of one, which ``ReceivedRequest/parameters`` then contains, decoded.
    ///
    /// A pattern that begins with `/` is for the path of any host; one without `://` is for host and path of any
    /// scheme. Only a pattern with a `?` is compared with the query, exactly; ``query(_:)`` and ``query(_:_:)`` compare
    /// it regardless of its order. Scheme and host are compared regardless of case. A fragment is ignored, and so is
    /// the scheme's default port.
    public static func url(_ pattern: String) -> RequestMatcher {
        let isPath = pattern.hasPrefix("/")
        let hasScheme = pattern.contains("://")
        let glob = GlobPattern(isPath ? pattern : URLText(hasScheme ? pattern : "*://\(pattern)").text)
        let hasQuery = pattern.contains("?")
        return glob.matcher("URL", pattern) { url in
            let path = (isPath ? "" : url.scheme + "://" + url.authority) + url.path
            return hasQuery ? path + (url.query.map { "?\($0)" } ?? "") : path
        }
    }

    /// Exactly this URL with its query, without patterns.
    public static func url(exactly expected: String) -> RequestMatcher {
        let normal = URLText(expected).text
        return RequestMatcher(
            .differing(expected) { request in
                let actual = URLText(request.url).text
                return actual == normal ? nil : RequestMismatch("URL", expected: normal, actual: actual)
            })
    }

    /// Exactly this URL with its query.
    public static func url(_ url: URL) -> RequestMatcher { .url(exactly: url.absoluteString) }

    /// A URL whose text contains a match of the regular expression (of `NSRegularExpression`). Its named groups become
    /// ``ReceivedRequest/parameters``.
    ///
    /// - Throws: an error where the pattern is not valid.
    public static func url(regex pattern: String) throws -> RequestMatcher {
        let expression = try Expression(pattern)
        return RequestMatcher(
            Check("/\(pattern)/") { request in
                let text = request.url.absoluteString
                guard let found = expression.match(text) else {
                    return Result(mismatches: [RequestMismatch("URL", expected: "/\(pattern)/", actual: text)])
                }
                return Result(parameters: found)
            })
    }

    /// A host, regardless of case; `*` and `**` as in `url(_:)`: `*.example.com`.
    public static func host(_ pattern: String) -> RequestMatcher {
        GlobPattern(pattern.lowercased()).matcher("host", pattern) { $0.host }
    }

    /// A path, with its percent escapes, that matches a pattern as in `url(_:)`.
    public static func path(_ pattern: String) -> RequestMatcher {
        GlobPattern(pattern).matcher("path", pattern) { $0.path }
    }

    /// A query that has an item with this name and value, among any others.
    ///
    /// - Parameter value: decoded; nil for any.
    public static func query(_ name: String, _ value: String? = nil) -> RequestMatcher {
        item("query item", named: name, value, shown: "query \(name)=\(value ?? "*")") { $0.query }
    }

    /// An item of a query or a form with this name and value, among any others.
    static func item(
        _ subject: String, named name: String, _ value: String?, shown description: String,
        in items: @escaping @Sendable (ReceivedRequest) -> [NamedValue]
    ) -> RequestMatcher {
        RequestMatcher(
            .differing(description) { request in
                let found = items(request).filter { $0.name == name }.map(\.value)
                if value.map(found.contains) ?? !found.isEmpty { return nil }
                return RequestMismatch(
                    "\(subject) \(name)", expected: value ?? "(any)",
                    actual: found.isEmpty ? nil : found.joined(separator: ", "))
            })
    }

    /// A query of exactly these items, in any order. Repeated names are pairs: `[("tag", "a"), ("tag", "b")]`.
    public static func query(_ items: KeyValuePairs<String, String>) -> RequestMatcher {
        let expected = items.map { NamedValue(name: $0.key, value: $0.value) }
        return RequestMatcher(
            Check("query \(expected.map(\.description).joined(separator: "&"))") { request in
                Result(mismatches: NamedValue.mismatches("query item", expected: expected, actual: request.query))
            })
    }

    /// A regular expression, which may be used from any thread.
    private struct Expression: @unchecked Sendable {  // NSRegularExpression is immutable
        let expression: NSRegularExpression
        let names: [String]

        init(_ pattern: String) throws {
            expression = try NSRegularExpression(pattern: pattern)
            let names = try NSRegularExpression(pattern: #"\(\?<([A-Za-z][A-Za-z0-9]*)>"#)
            let whole = NSRange(pattern.startIndex..., in: pattern)
            self.names = names.matches(in: pattern, range: whole).compactMap { match in
                Range(match.range(at: 1), in: pattern).map { String(pattern[$0]) }
            }
        }

        func match(_ text: String) -> [String: String]? {
            let whole = NSRange(text.startIndex..., in: text)
            guard let match = expression.firstMatch(in: text, range: whole) else { return nil }
            var found: [String: String] = [:]
            for name in names {
                if let range = Range(match.range(withName: name), in: text) { found[name] = String(text[range]) }
            }
            return found
        }
    }
}

extension GlobPattern {
    /// A matcher for a part of a URL. The pattern's parameters become those of the request, decoded.
    fileprivate func matcher(
        _ subject: String, _ pattern: String, of part: @escaping @Sendable (URLText) -> String
    ) -> RequestMatcher {
        RequestMatcher(
            RequestMatcher.Check("\(subject) \(pattern)") { request in
                let text = part(URLText(request.url))
                guard let found = match(text) else {
                    return .init(mismatches: [RequestMismatch(subject, expected: pattern, actual: text)])
                }
                return .init(parameters: found.mapValues { $0.removingPercentEncoding ?? $0 })
            })
    }
}

extension NamedValue {
    /// The differences of two lists, regardless of their order; equal names are paired in order.
    static func mismatches(
        _ subject: String, expected: [NamedValue], actual: [NamedValue], isWildcard: (String) -> Bool = { _ in false }
    ) -> [RequestMismatch] {
        let wanted = Dictionary(grouping: expected, by: \.name)
        let present = Dictionary(grouping: actual, by: \.name)
        return Set(wanted.keys).union(present.keys).sorted().compactMap { name in
            let (a, b) = (wanted[name] ?? [], present[name] ?? [])
            let isSame = a.count == b.count && zip(a, b).allSatisfy { $0.value == $1.value || isWildcard($0.value) }
            if isSame { return nil }
            return RequestMismatch(
                "\(subject) \(name)", expected: a.isEmpty ? "(absent)" : a.map(\.value).joined(separator: ", "),
                actual: b.isEmpty ? nil : b.map(\.value).joined(separator: ", "))
        }
    }
}
