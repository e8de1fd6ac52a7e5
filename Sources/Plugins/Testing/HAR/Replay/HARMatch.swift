import Foundation
@_spi(LoadingKitPlugins) import LoadingKitHAR

/// Compares a request with a recorded one, whose redacted values match any value.
struct HARMatch {
    private static let marker = HARRedaction.marker

    let entry: HAREntry
    private let url: URLText

    init(_ entry: HAREntry) {
        self.entry = entry
        url = URLText(entry.request.url)
    }

    var name: String { "\(entry.request.method) \(entry.request.url)" }

    /// The differences in method, URL and query. The order of query items does not count.
    func headMismatches(_ request: ReceivedRequest) -> [RequestMismatch] {
        var found: [RequestMismatch] = []
        if entry.request.method != request.method {
            found.append(RequestMismatch("method", expected: entry.request.method, actual: request.method))
        }
        let actual = URLText(request.url)
        let (expectedPlace, actualPlace) = (Self.withoutUser(url), Self.withoutUser(actual))
        if expectedPlace != actualPlace {
            found.append(RequestMismatch("URL", expected: expectedPlace, actual: actualPlace))
        }
        return found
            + NamedValue.mismatches(
                "query item", expected: NamedValue.list(ofForm: url.query ?? ""),
                actual: NamedValue.list(ofForm: actual.query ?? ""), isWildcard: Self.isWildcard)
    }

    /// The differences of the bodies: JSON and forms are compared by their values, others by their bytes.
    func bodyMismatches(_ request: ReceivedRequest) -> [RequestMismatch] {
        guard let recorded = entry.request.postData, !recorded.text.isEmpty || !recorded.params.isEmpty else {
            let isOmitted = entry.request.postData?.others["_omitted"]?.bool == true
            if request.body.isEmpty || isOmitted { return [] }
            return [RequestMismatch("body", expected: "(absent)", actual: request.body.excerpt)]
        }
        guard let expected = recorded.data else {
            return [RequestMismatch("body", expected: "base64, which the recording does not have", actual: nil)]
        }
        if expected == request.body { return [] }
        guard !request.body.isEmpty else { return [RequestMismatch("body", expected: expected.excerpt, actual: nil)] }
        let type = recorded.mimeType.lowercased()
        if type.hasPrefix("application/x-www-form-urlencoded") {
            return NamedValue.mismatches(
                "form field", expected: NamedValue.list(ofForm: String(decoding: expected, as: UTF8.self)),
                actual: NamedValue.list(ofForm: request.text), isWildcard: Self.isWildcard)
        }
        if type.hasPrefix("multipart/form-data") {
            return NamedValue.mismatches(
                "form field", expected: Self.fields(recorded, expected), actual: request.form,
                isWildcard: Self.isWildcard)
        }
        if let a = try? JSONValue(parsing: expected), let b = try? request.json() {
            return JSONDifference.find(expected: a, actual: b) { $0.string.map(Self.isWildcard) ?? false }
                .map(\.mismatch)
        }
        return [RequestMismatch("body", expected: expected.excerpt, actual: request.body.excerpt)]
    }

    private static func fields(_ recorded: HARPostData, _ body: Data) -> [NamedValue] {
        guard let multipart = MultipartBody(Array(body), contentType: recorded.mimeType), !multipart.parts.isEmpty
        else {
            return recorded.params.map { NamedValue(name: $0.name, value: $0.value ?? marker) }
        }
        return multipart.parts.map { NamedValue(name: $0.name, value: multipart.text(of: $0)) }
    }

    /// Of a value such as JSON in a part of a form, a part may be redacted.
    private static func isWildcard(_ value: String) -> Bool { value.contains(marker) }

    /// User and password are never recorded.
    private static func withoutUser(_ url: URLText) -> String {
        guard let at = url.authority.lastIndex(of: "@") else { return url.withoutQuery }
        let host = url.authority[url.authority.index(after: at)...]
        return "\(url.scheme)://\(host)\(url.path)"
    }
}
