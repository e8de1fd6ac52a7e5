import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

@testable import LoadingKitCore
@testable import LoadingKitHTTP
@testable import LoadingKitResilience

/// Values of fields, in any bytes.
enum FieldTargets {
    static let all = [
        FuzzTarget("cookies", cookies), FuzzTarget("cache-fields", cacheFields), FuzzTarget("structured", structured),
        FuzzTarget("dates", dates), FuzzTarget("mime", mime), FuzzTarget("field-values", fieldValues),
        FuzzTarget("challenges", challenges),
    ]

    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    @Sendable private static func cookies(_ input: inout FuzzInput) throws {
        guard
            let url = URL(
                string: ["https://a.example.com/b/c", "http://127.0.0.1/", "http://[::1]/"][input.number(below: 3)])
        else { return }
        let bytes = input.rest()
        let text = String(decoding: bytes, as: UTF8.self)
        for line in SetCookieList.lines(text) {
            guard let line = SetCookieLine(utf8: line) else { continue }
            try require(!line.name.isEmpty && !line.name.contains("="), "the name is \(line.name)")
            let path = CookiePath.defaultPath(for: url)
            guard let record = CookieRecord(line, from: url, defaultPath: path, now: now) else { continue }
            // The field that sends the cookie is read as the same name and value.
            let sent = SetCookieLine("\(record.identity.name)=\(record.value)")
            try require(
                sent?.name == line.name && sent?.value == line.value, "\(line) is sent as \(String(describing: sent))")
        }
        _ = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": text], for: url)
        _ = CookieDate.date(bytes)
    }

    @Sendable private static func cacheFields(_ input: inout FuzzInput) throws {
        var fields = HTTPFields()
        let names: [KnownField] = [
            .cacheControl, .pragma, .expires, .age, .date, .lastModified, .etag, .vary, .warning,
        ]
        let choices = input.byte()
        for value in input.rest().split(separator: 0x0A, maxSplits: 20, omittingEmptySubsequences: false) {
            let name = names[(Int(choices) + fields.count) % names.count]
            Array(name.name.utf8).withUnsafeBytes { name in
                Array(value).withUnsafeBytes { fields.append(nameBytes: name, valueBytes: $0) }
            }
        }
        let control = CacheControl(fields)
        for duration in [control.maxAge, control.staleWhileRevalidate, control.staleIfError].compactMap({ $0 }) {
            try require(duration >= 0, "\(duration) seconds")
        }
        _ = CacheControl(ofRequest: fields)
        let freshness = Freshness(
            status: 200, fields: fields, control: control, requestTime: now, responseTime: now, now: now)
        try require(freshness.age >= 0 && freshness.lifetime >= 0, "\(freshness)")
        _ = VaryKey.matchesNothing(fields)
    }

    @Sendable private static func structured(_ input: inout FuzzInput) throws {
        let text = input.text()
        _ = StructuredField.item(text)
        _ = StructuredField.dictionary(text)
        _ = UploadLimits(text)
    }

    /// A date that is read is written in the preferred form, and read again.
    @Sendable private static func dates(_ input: inout FuzzInput) throws {
        let text = input.text()
        let now = now.timeIntervalSince1970
        if let seconds = HTTPDate.parse(text, now: now) {
            let again = HTTPDate.parse(HTTPDate.string(Double(seconds)), now: now)
            try require(again == seconds, "\(text): \(seconds), then \(String(describing: again))")
        }
        if let date = CookieDate.date(text) {
            let written = HTTPDate.string(date.timeIntervalSince1970)
            try require(CookieDate.date(written) == date, "\(text): \(date), then \(written)")
        }
        _ = RetryAfter(text, now: self.now)
    }

    @Sendable private static func mime(_ input: inout FuzzInput) throws {
        let text = input.text()
        if let type = URLResponse.MIMEType(text) {
            let again = URLResponse.MIMEType(type.serialized)
            try require(again == type, "\(text): \(type.serialized) is read as \(String(describing: again))")
        }
        let name = SuggestedFilename(
            contentDisposition: text, url: URL(string: "http://a/b.txt"), mimeType: text
        ).string
        try require(!name.isEmpty && name.utf8.count <= 255, "a name of \(name.utf8.count) bytes")
        try require(!name.contains("/") && !name.hasPrefix("."), "the name \(name)")
    }

    @Sendable private static func fieldValues(_ input: inout FuzzInput) throws {
        let text = input.text()
        if let range = URLRequest.ByteRange(text) { _ = (range.resolved(total: 10), range.resolved(total: .max)) }
        _ = HTTPURLResponse.ContentRange(text)
        if let field = HSTSField(text) { try require(field.maximumAge >= 0, "\(field.maximumAge) seconds") }
        _ = text.splitOutsideQuotes(at: ",")
        _ = LocalHost.isLocal(text)
    }

    @Sendable private static func challenges(_ input: inout FuzzInput) throws {
        // The parsers of heads refuse other control characters.
        let text = String(decoding: input.rest().filter { $0 >= 0x20 || $0 == 0x09 }, as: UTF8.self)
        _ = ChallengeParser.parameters(text)
        for challenge in ChallengeParser.challenges([text]) {
            let request = HTTPAuthenticationRequest(method: "GET", target: "/a", host: "a")
            let credential = URLCredential(user: "u", password: "p", persistence: .none)
            guard var scheme = DigestScheme(challenge, clientNonce: "n") else { continue }
            if let field = scheme.authorization(for: request, with: credential) {
                try require(!field.contains { $0 == "\r" || $0 == "\n" || $0 == "\0" }, "the field is \(field)")
            }
        }
    }
}
